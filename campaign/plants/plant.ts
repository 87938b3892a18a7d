/** A fault that is put into a process on purpose, to see that a checker finds it. */
export interface Plant {
  /** `replay-of-another-caller`. */
  readonly name: string
  /** What somebody who changed the code might have done wrong: a sentence. */
  readonly mistake: string
  /** The class of the checker that has to find it: `CreatedOnce`. */
  readonly checker: string
  /** The workloads that bring it out, together. */
  readonly workloads: readonly string[]
  readonly process: 'gateway' | 'data-service'
  /** The database that shows it. Default: SQLite, which every machine has. */
  readonly database?: 'mariadb'
  /** What has to break besides, by texts as `--fault` takes them: the fault does harm only then. Default: nothing. */
  readonly faults?: readonly string[]
  /** The compiled module that is changed: `data-service/operations/writes/create.js`. */
  readonly module: string
  /** Text that the module has exactly once. */
  readonly find: string
  readonly replace: string
}

/** The text of a compiled module with the fault in it. Throws if the text to replace is not there exactly once. */
export function plantedText(text: string, { name, module, find, replace }: Plant): string {
  const pieces = text.split(find)
  if (pieces.length !== 2) {
    throw new Error(`The fault ${name} replaces a text that ${module} has ${pieces.length - 1} times, not once.`)
  }
  return pieces.join(replace)
}
