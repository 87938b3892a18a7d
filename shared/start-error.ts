/** What keeps the process from starting and its operator can mend: the message follows "Cannot start: ". */
export class StartError extends Error {
  override readonly name = 'StartError'

  /** `mistakes`: a line each, below the sentence. */
  constructor(
    sentence: string,
    { mistakes = [], ...options }: ErrorOptions & { readonly mistakes?: readonly string[] } = {}
  ) {
    super(sentence + listed(mistakes), options)
  }
}

/** A line for each, below what they belong to. */
export function listed(lines: readonly string[]): string {
  return lines.map((line) => `\n- ${line}`).join('')
}

/** Awaits a step of the start; its failure becomes a StartError with the sentence made of its message. */
export async function orStartError<T>(step: Promise<T>, sentence: (message: string) => string): Promise<T> {
  try {
    return await step
  } catch (error) {
    throw new StartError(sentence(messageOf(error).replace(/\.$/, '')), { cause: error })
  }
}

/**
 * What an error says to people. Drivers leave some messages empty: a connection refused at every address of a name is
 * an AggregateError without one, and a server's word may stand in `sqlMessage` alone.
 */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.message !== '') return error.message
  if ('sqlMessage' in error && typeof error.sqlMessage === 'string' && error.sqlMessage !== '') return error.sqlMessage
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : []
  const told = [...inner, 'parent' in error ? error.parent : undefined, error.cause].find((one) => one instanceof Error)
  if (told !== undefined) return messageOf(told)
  const codes = ['code', 'errno'].flatMap((name) => (name in error ? [String(Reflect.get(error, name))] : []))
  return codes.length === 0 ? error.name : codes.join(' ')
}
