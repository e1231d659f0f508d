/** The part of pdf.js that reads files. Importing it is enough. */
declare module 'pdfjs-dist/legacy/build/pdf.worker.mjs' {}
