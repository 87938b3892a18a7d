import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Failure, runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'
import { projectRoot } from './project-root.mjs'
import { startCountedProcess } from './route-files/counted-process.mjs'

// `node tools/route-files.mjs [--list] [--data-service <module>] [--gateway <module>]` counts the product files that one
// request of each route goes through: the files with a function that is called between the request and its answer, in the
// gateway and in the data service together. It starts both on SQLite with sample data. Each route is requested WARM_UPS
// times first, so that nothing counts that only happens once. A file counts when MEASURED requests all went through it:
// work in the background falls between some of them alone. `--list` names the files. The modules are paths of compiled
// files. At the end come files, lines and the median of lines of each folder.
const WARM_UPS = 3
const MEASURED = 6
/** Milliseconds after an answer in which the processes write their logs and end the request. */
const SETTLE_MS = 100

/** Folders of the product; shared/gen is generated. */
const PRODUCT = ['gateway', 'data-service', 'schema', 'shared', 'examples']
const GENERATED = 'shared/gen/'

/**
 * @typedef {{ status: number, etag: string, text: string }} Answer
 * @typedef {{ method: string, path: string, headers?: Record<string, string>, body?: string }} Request
 * @typedef {(request: Request) => Promise<Answer>} Send
 * @typedef {{ name: string, status: number, prepare: (send: Send, number: number) => Promise<Request> }} Route
 *   `prepare` makes the next request, another `number` each time; what it sends itself is not counted
 * @typedef {import('./route-files/counted-process.mjs').CountedProcess} CountedProcess
 */

const PAGE =
  '/products/paged?filters[categoryId].operator=equals&filters[categoryId].value=4&sortColumn=price&pageSize=20'

/** @type {readonly Route[]} */
const ROUTES = [
  reading('GET /products/paged', PAGE),
  reading('GET /products/1', '/products/1'),
  reading('GET /products/export', '/products/export'),
  guarded('PUT /products/1', {
    row: '/products/1',
    body: (text, number) => JSON.stringify({ ...JSON.parse(text), name: `Counted ${number}` })
  }),
  guarded('PUT /stock-items/1/adjust', { row: '/stock-items/1', action: '/adjust', body: () => '{"delta":1}' }),
  {
    name: 'POST /products',
    status: 201,
    prepare: async (_send, number) => ({
      method: 'POST',
      path: '/products',
      headers: { 'idempotency-key': `count-${number}` },
      body: `{"name":"Counted","sku":"COUNT-${number}","categoryId":4,"price":"1.50"}`
    })
  }
]

await runCommand(async () => {
  await prepare()
  const { values } = parseArgs({
    options: {
      list: { type: 'boolean', default: false },
      'data-service': { type: 'string', default: 'start data-service --app dist/examples/store' },
      gateway: { type: 'string', default: 'start gateway' }
    }
  })
  const folder = mkdtempSync(join(tmpdir(), 'route-files-'))
  /** @type {CountedProcess[]} */
  const running = []
  try {
    const env = { DATA_DIR: folder, GATEWAY_SECRET: 'x'.repeat(32), COOKIE_SECURE: 'false' }
    const dataService = startCountedProcess(values['data-service'], {
      ...env,
      SAMPLE_DATA: 'true',
      MIGRATE_AT_START: 'true',
      OWNER_BYPASS_ROLE: 'Admin',
      DATA_SERVICE_ADDRESS: '127.0.0.1:0'
    })
    running.unshift(dataService)
    const DATA_SERVICE_ADDRESS = await dataService.logged('address')
    const gateway = startCountedProcess(values.gateway, { ...env, GATEWAY_PORT: '0', DATA_SERVICE_ADDRESS })
    running.unshift(gateway)
    const send = await signedIn((await gateway.logged('url')).replace(/\/$/, ''))
    let number = 0
    print(['route', 'files', ...PRODUCT])
    for (const route of ROUTES) {
      for (let time = 0; time < WARM_UPS; time++) await request(route)
      /** @type {string[] | undefined} */
      let files
      for (let time = 0; time < MEASURED; time++) {
        const called = new Set(await request(route))
        files = (files ?? [...called]).filter((file) => called.has(file))
      }
      report(route.name, files ?? [], values.list)
    }
    reportSizes()

    /** @param {Route} route */
    async function request(route) {
      number += 1
      const prepared = await route.prepare(send, number)
      await pause(SETTLE_MS)
      for (const service of running) await service.called()
      const { status, text } = await send(prepared)
      if (status !== route.status) throw new Failure(`${route.name} was answered ${status}: ${text.slice(0, 300)}`)
      await pause(SETTLE_MS)
      const called = []
      for (const service of running) called.push(...(await service.called()))
      return productFiles(called)
    }
  } finally {
    for (const service of running) await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return 0
})

/**
 * @param {string} name
 * @param {string} path
 * @returns {Route}
 */
function reading(name, path) {
  return { name, status: 200, prepare: async () => ({ method: 'GET', path }) }
}

/**
 * A write with the tag that a read of its row has just answered.
 *
 * @param {string} name
 * @param {{ row: string, action?: string, body: (row: string, number: number) => string }} write
 * @returns {Route}
 */
function guarded(name, { row, action = '', body }) {
  return {
    name,
    status: 200,
    prepare: async (send, number) => {
      const { etag, text } = await send({ method: 'GET', path: row })
      return { method: 'PUT', path: `${row}${action}`, headers: { 'if-match': etag }, body: body(text, number) }
    }
  }
}

/**
 * @param {string} base
 * @returns {Promise<Send>} sends with the token of a sample clerk
 */
async function signedIn(base) {
  const body = JSON.stringify({ email: 'clerk@example.com', password: 'demo-password' })
  const { status, text } = await sendTo(base, { method: 'POST', path: '/auth/login', body })
  if (status !== 200) throw new Failure(`The clerk's login was answered ${status}: ${text}`)
  const { accessToken } = /** @type {{ accessToken: string }} */ (JSON.parse(text))
  return (request) =>
    sendTo(base, { ...request, headers: { ...request.headers, authorization: `Bearer ${accessToken}` } })
}

/**
 * @param {string} base
 * @param {Request} request
 * @returns {Promise<Answer>}
 */
async function sendTo(base, { method, path, headers, body }) {
  const content = body === undefined ? {} : { body, headers: { 'content-type': 'application/json', ...headers } }
  const answer = await fetch(`${base}${path}`, { method, headers: headers ?? {}, ...content })
  return { status: answer.status, etag: answer.headers.get('etag') ?? '', text: await answer.text() }
}

/** @param {readonly string[]} modules compiled ones, from the project's folder */
function productFiles(modules) {
  return modules.flatMap((module) => {
    const stem = module.replace(/^dist\//, '').replace(/\.js$/, '')
    const file = ['.ts', '.tsx'].map((end) => `${stem}${end}`).find((path) => existsSync(join(projectRoot, path)))
    const isProduct = PRODUCT.some((folder) => stem.startsWith(`${folder}/`)) && !stem.startsWith(GENERATED)
    return isProduct && file !== undefined ? [file] : []
  })
}

/**
 * @param {string} name
 * @param {readonly string[]} files
 * @param {boolean} list
 */
function report(name, files, list) {
  const within = PRODUCT.map((folder) => files.filter((file) => file.startsWith(`${folder}/`)).length)
  print([name, files.length, ...within])
  if (!list) return
  for (const [folder, own] of byFolder(files)) process.stdout.write(`    ${folder}: ${own.join(', ')}\n`)
  process.stdout.write('\n')
}

function reportSizes() {
  const files = PRODUCT.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`)
  ).filter((path) => /\.tsx?$/.test(path) && !path.startsWith(GENERATED))
  process.stdout.write('\n')
  print(['folder', 'files', 'lines', 'median'])
  for (const [folder, own] of byFolder(files)) print([folder, ...sizes(own.map((name) => `${folder}/${name}`))])
  print(['all', ...sizes(files)])
}

/**
 * @param {readonly string[]} files
 * @returns {[files: number, lines: number, median: number]}
 */
function sizes(files) {
  const lines = files
    .map((path) => readFileSync(join(projectRoot, path), 'utf8').split('\n').length - 1)
    .toSorted((a, b) => a - b)
  return [files.length, lines.reduce((sum, one) => sum + one, 0), lines[Math.floor(lines.length / 2)] ?? 0]
}

/**
 * @param {readonly string[]} files
 * @returns {[folder: string, names: string[]][]}
 */
function byFolder(files) {
  const folders = [...new Set(files.map((file) => dirname(file)))].toSorted()
  return folders.map((folder) => {
    const own = files.filter((file) => dirname(file) === folder)
    return [folder, own.map((file) => file.slice(folder.length + 1)).toSorted()]
  })
}

/** @param {readonly [first: string, ...others: (string | number)[]]} cells */
function print([first, ...others]) {
  const cells = others.map((cell) => String(cell).padStart(13))
  process.stdout.write(`${first.padEnd(40)}${cells.join('')}\n`)
}
