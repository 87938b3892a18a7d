/** What keeps the process from starting and its operator can mend: the message follows "Cannot start: ". */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** Awaits a step of the start; its failure becomes a StartError with the sentence made of its message. */
export async function orStartError<T>(step: Promise<T>, sentence: (message: string) => string): Promise<T> {
  try {
    return await step
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new StartError(sentence(message.replace(/\.$/, '')), { cause: error })
  }
}
