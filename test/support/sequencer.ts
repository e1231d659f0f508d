import { statSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Tests that start processes or browsers take about this many times as long as others of the same length. */
const SLOW = /\/test\/(?:chaos|client\/cli|dashboard|process)\/|-(?:browser|kill)\.test\.ts$/
const FACTOR = 6

/** These take longest, whatever their length: they compile a service, upgrade a server or look at every screen. */
const LONGEST =
  /\/test\/(?:process\/(?:additions\/additions|build|upgrade-postgres)|dashboard\/every-screen)\.test\.ts$/

const weightOf = ({ moduleId }: TestSpecification): number =>
  LONGEST.test(moduleId) ? Number.MAX_VALUE : statSync(moduleId).size * (SLOW.test(moduleId) ? FACTOR : 1)

/**
 * Starts the files first that probably take longest, so that the workers finish at about the same time. A fresh
 * clone, as in continuous integration, has no durations of an earlier run.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => weightOf(other) - weightOf(one))
  }
}
