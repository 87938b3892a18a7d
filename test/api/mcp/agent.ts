import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ApiStore } from '../api-store.js'

/** The answer of a tool, its text as JSON. */
export interface ToolAnswer {
  readonly isError: boolean
  readonly json: Readonly<Record<string, unknown>>
}

type Revision = '2026-07-28' | '2025-11-25'

/** An agent with the client of the official SDK. `2026-07-28` speaks that revision alone, `2025-11-25` the one before. */
export class Agent {
  readonly client: Client

  private constructor(client: Client) {
    this.client = client
  }

  /** Signed in as a sample account. */
  static async connect(store: ApiStore, account: string, revision: Revision = '2026-07-28'): Promise<Agent> {
    return Agent.at(store.url, await store.stack.token(`${account}@example.com`), revision)
  }

  /** With a gateway and a token of one's own choice. */
  static async at(base: string, token: string, revision: Revision = '2026-07-28'): Promise<Agent> {
    const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy'
    const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${base}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${token}` } }
      })
    )
    return new Agent(client)
  }

  async call(name: string, sent: object = {}): Promise<ToolAnswer> {
    const { content, isError } = await this.client.callTool({ name, arguments: { ...sent } })
    const [first] = content
    if (first?.type !== 'text' || content.length !== 1) throw new TypeError('a tool answers one text')
    return { isError: isError === true, json: JSON.parse(first.text) as ToolAnswer['json'] }
  }

  async close(): Promise<void> {
    await this.client.close()
  }
}
