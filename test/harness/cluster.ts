import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceProcess } from '../stack/service-process.js'
import { startProcesses, type Stack, type StackOptions } from './stack.js'

/** Several stacks over one database and one data folder, as replicas are. */
export interface Cluster extends AsyncDisposable {
  readonly stacks: readonly Stack<ServiceProcess>[]
  /** Of each gateway, without a slash at the end. */
  readonly urls: readonly string[]
  /** An access token of a sample account, good at every gateway. */
  token(email: string): Promise<string>
  stop(): Promise<void>
}

/** Starts a gateway and a data service for each of the options, which may name several nodes of one database. */
export async function startReplicas(all: readonly StackOptions[]): Promise<Cluster> {
  const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
  const stacks: Stack<ServiceProcess>[] = []
  const stop = async (): Promise<void> => {
    try {
      await Promise.all(stacks.splice(0).map((stack) => stack.stop()))
    } finally {
      await rm(dataDir, { recursive: true, force: true })
    }
  }
  try {
    // The first one makes the key that all of them sign with.
    for (const { database, env } of all) {
      stacks.push(await startProcesses({ database, env: { ...env, DATA_DIR: dataDir } }))
    }
    const urls = stacks.map(({ url }) => url)
    const token = (email: string): Promise<string> => {
      const [first] = stacks
      if (first === undefined) throw new Error('There is no stack')
      return first.token(email)
    }
    return { stacks: [...stacks], urls, token, stop, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}
