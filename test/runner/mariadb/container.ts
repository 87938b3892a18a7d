import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { DatabaseServer } from '../database-server.js'
import { waitForServer } from './wait-for-server.js'

const IMAGE = 'mariadb:11.4'
const START_MS = 120_000
const run = promisify(execFile)

/** Whether a container engine answers. */
export async function hasContainerEngine(): Promise<boolean> {
  return run('docker', ['info']).then(
    () => true,
    () => false
  )
}

/** Starts MariaDB in a container on a free loopback port. */
export async function startContainer(): Promise<DatabaseServer> {
  const password = randomBytes(12).toString('hex')
  const options = ['--detach', '--rm', '--publish=127.0.0.1::3306', '--tmpfs=/var/lib/mysql']
  const server = [
    '--character-set-server=utf8mb4',
    '--default-time-zone=+05:30',
    '--max-connections=500',
    '--log-output=TABLE'
  ]
  const { stdout } = await run('docker', [
    'run',
    ...options,
    `--env=MARIADB_ROOT_PASSWORD=${password}`,
    IMAGE,
    ...server
  ])
  const container = stdout.trim()
  const stop = async (): Promise<void> => void (await run('docker', ['rm', '--force', container]))
  try {
    const { stdout: published } = await run('docker', ['port', container, '3306/tcp'])
    const port = /:(\d+)\s*$/.exec(published)?.[1]
    const url = `mysql://root:${password}@127.0.0.1:${port}`
    const version = await waitForServer(url, AbortSignal.timeout(START_MS))
    return { url, description: `MariaDB ${version} in a container`, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
