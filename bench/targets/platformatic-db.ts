import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../test/runner/free-port.js'
import { startServer, untilServing } from './server-process.js'
import { NotHere, type RunningTarget, type Target, type TargetContext } from './target.js'

/** The versions that are measured; they are no dependencies of the project. */
const PACKAGES = ['@platformatic/db@2.61.0', 'node@24']
const FOLDER = resolve('.data/bench-peers')
const INSTALL_TIMEOUT_MS = 15 * 60 * 1000

/**
 * A generator of REST APIs from tables. It runs without any authentication, which is to its advantage: no token is read,
 * and no row has an owner. It sends no ETag, and it has no cursors over HTTP, no children in pages, no CSV and no keys of
 * idempotency, so it takes part in the reads that it has.
 */
export const platformaticDb: Target = {
  name: 'platformatic-db',
  description:
    'One process, Platformatic DB 2.61 on Node 24, its REST API over the same tables, without any authentication, ETag and GraphQL',
  workloads: ['by-id', 'by-id-fields', 'page', 'page-1', 'page-1000', 'lookup'],
  ownForm: { pathOf },
  async start(context) {
    await install()
    return startInstalled(context)
  }
}

/** Installs the packages once, in a folder of their own. */
async function install(): Promise<void> {
  const stamp = join(FOLDER, 'installed')
  if (existsSync(stamp)) return
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), '{ "private": true }\n')
  try {
    const options = { cwd: FOLDER, timeout: INSTALL_TIMEOUT_MS, maxBuffer: 2 ** 26 }
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', ...PACKAGES], options)
    await promisify(execFile)(node24(), ['--version'])
  } catch (error) {
    throw new NotHere(`npm cannot install it: ${String(error).split('\n', 1).join()}`, { cause: error })
  }
  writeFileSync(stamp, `${PACKAGES.join('\n')}\n`)
}

function node24(): string {
  return join(FOLDER, 'node_modules/node/bin/node')
}

async function startInstalled({ databaseUrl, databaseConnections, dataDir }: TargetContext): Promise<RunningTarget> {
  const port = await freePort()
  const config = join(resolve(dataDir), 'platformatic.json')
  writeFileSync(
    config,
    JSON.stringify({
      $schema: 'https://schemas.platformatic.dev/@platformatic/db/2.61.0.json',
      server: { hostname: '127.0.0.1', port: '{PORT}', logger: { level: 'warn' } },
      db: {
        connectionString: '{DATABASE_URL}',
        poolSize: databaseConnections,
        openapi: true,
        graphql: false,
        events: false
      },
      watch: false,
      metrics: false
    })
  )
  const server = startServer({
    node: node24(),
    module: join(FOLDER, 'node_modules/@platformatic/db/db.mjs'),
    args: ['start', '-c', config],
    nodeOptions: [],
    env: { PORT: String(port), DATABASE_URL: databaseUrl.replace(/^mariadb:/, 'mysql:') }
  })
  const origin = `http://127.0.0.1:${port}`
  try {
    await untilServing(origin, [server])
  } catch (error) {
    await server.stop()
    throw new NotHere(String(error), { cause: error })
  }
  return { origin, pids: [server.pid], stop: () => server.stop() }
}

/** Platformatic's words for a read of the reference store. */
function pathOf(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://localhost')
  if (pathname === '/categories/lookup') {
    return '/categories/?fields=id,name&limit=100&orderby.name=asc&orderby.id=asc'
  }
  if (pathname !== '/products/paged') return path
  const size = Number(searchParams.get('pageSize'))
  const filters = [...searchParams].flatMap(([name, value]) => {
    const property = /^filters\[(\w+)\]\.value$/.exec(name)?.[1]
    return property === undefined ? [] : [`where.${property}.eq=${encodeURIComponent(value)}`]
  })
  const order = [`orderby.${searchParams.get('sortColumn') ?? 'id'}=asc`, 'orderby.id=asc']
  const window = [`limit=${size}`, `offset=${(Number(searchParams.get('pageNumber')) - 1) * size}`, 'totalCount=true']
  return `/products/?${[...filters, ...order, ...window].join('&')}`
}
