/** The writers of this process to one file, one after the other in order of arrival. */
export class WriteQueue {
  #last: Promise<void> = Promise.resolve()

  /** Resolves, when it is the caller's turn, with the function that ends it; calling that twice is harmless. */
  async enter(): Promise<() => void> {
    const before = this.#last
    let leave = (): void => undefined
    this.#last = new Promise((resolve) => {
      leave = resolve
    })
    await before
    return leave
  }
}
