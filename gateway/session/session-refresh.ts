import { DomainError } from '../../shared/domain-error.js'
import type { AuthCall, AuthClient, Session } from '../auth-client.js'

/** Refreshes sessions. All who ask for one refresh token at the same time share one call. */
export class SessionRefresh {
  readonly #auth: AuthClient
  readonly #running = new Map<string, Promise<Session | undefined>>()

  constructor(auth: AuthClient) {
    this.#auth = auth
  }

  /** undefined for a session that is definitively over. Throws where that cannot be found out. */
  refresh(call: AuthCall, refreshToken: string): Promise<Session | undefined> {
    const running = this.#running.get(refreshToken)
    if (running !== undefined) return running
    const started = this.#refresh(call, refreshToken).finally(() => this.#running.delete(refreshToken))
    this.#running.set(refreshToken, started)
    return started
  }

  async #refresh(call: AuthCall, refreshToken: string): Promise<Session | undefined> {
    try {
      return await this.#auth.refresh(call, refreshToken)
    } catch (error) {
      if (error instanceof DomainError && error.code === 'auth.invalid-token') return undefined
      throw error
    }
  }
}
