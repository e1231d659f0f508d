/** Tests that start processes or browsers, kill something, or try thousands of inputs. */
export const SLOW = [
  'test/{chaos,client/cli,dashboard,process}/**/*.test.ts',
  'test/**/{kill,browser,fuzz}.test.ts',
  'test/**/*-{kill,browser,fuzz}.test.ts',
]
