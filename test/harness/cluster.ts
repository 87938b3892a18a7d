import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startStack, type Stack, type StackOptions } from './stack.js'

/** Several stacks over one database and one data folder, as replicas are. */
export interface Cluster extends AsyncDisposable {
  readonly stacks: readonly Stack[]
  /** Of each gateway, without a slash at the end. */
  readonly urls: readonly string[]
  /** An access token of a sample account, good at every gateway. */
  token(email: string): Promise<string>
  stop(): Promise<void>
}

/** Starts `size` gateways, each with a data service of its own behind it. */
export async function startCluster(size: number, { database, env }: StackOptions): Promise<Cluster> {
  const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
  const stacks: Stack[] = []
  const stop = async (): Promise<void> => {
    try {
      await Promise.all(stacks.splice(0).map((stack) => stack.stop()))
    } finally {
      await rm(dataDir, { recursive: true, force: true })
    }
  }
  try {
    const start = (): Promise<Stack> => startStack({ database, env: { ...env, DATA_DIR: dataDir } })
    // The first one makes the key that all of them sign with.
    const first = await start()
    stacks.push(first)
    for (let others = size - 1; others > 0; others--) stacks.push(await start())
    const urls = stacks.map(({ url }) => url)
    return { stacks: [...stacks], urls, token: first.token, stop, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}
