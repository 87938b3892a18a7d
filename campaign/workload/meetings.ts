import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds for which whoever comes first waits for others. */
const WAITS_MS = 25

/** Brings clients together who would miss each other by milliseconds. */
export class Meetings<Topic> {
  readonly #open = new Map<string, { readonly topic: Topic; readonly begins: Promise<void> }>()

  /** Resolves at the same moment for all who come in time to the meeting of that name, with the topic of who came first. */
  async join(name: string, topic: Topic): Promise<Topic> {
    const meeting = this.#open.get(name) ?? {
      topic,
      begins: delay(WAITS_MS).then(() => void this.#open.delete(name))
    }
    this.#open.set(name, meeting)
    await meeting.begins
    return meeting.topic
  }
}
