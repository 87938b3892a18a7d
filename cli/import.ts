import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { messageOf } from '../shared/start-error.js'
import { type CommandLine, Failure, printable, withUsage } from './application/command.js'

// Sends a file over HTTP, as any client does: `fetch` would give up after five minutes without an answer.

const USAGE = `Usage: uniform-rest import <resource> <file.csv | file.ndjson> [--by <property>] [--on-error stop | skip]
                           [--url <gateway>] [--key <text>]

The token is that of UNIFORM_REST_TOKEN, or of the machine account UNIFORM_REST_CLIENT_ID with
UNIFORM_REST_CLIENT_SECRET. The gateway is --url, UNIFORM_REST_URL or http://127.0.0.1:3000.
The key is made of the file and the options, so that a second run creates nothing twice.`

const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson'
}

/** Further attempts after one that may have been cut short. */
const ATTEMPTS = 5
const MAX_PAUSE_SECONDS = 30
const PROGRESS_STEPS = 10
/** Milliseconds. The last part of a file that is created as a whole takes a minute at most. */
const MAX_SILENCE = 300_000

/** Where nothing is wrong with the request. */
const REPEATED: readonly number[] = [0, 429, 502, 503, 504]

interface Answer {
  /** 0 without an answer. */
  readonly status: number
  /** Seconds. */
  readonly retryAfter: number
  readonly body: object
}

interface Counts {
  readonly rows: number
  readonly failed: number
  readonly errors: readonly (Readonly<Record<'code' | 'detail' | 'pointer', string>> & { readonly row: number })[]
}

/** `uniform-rest import products new.csv --by sku` (docs/http.md, "Import"). */
export async function importFile(line: CommandLine): Promise<number> {
  const { base, url, headers, path, size } = await parseLine(line)
  const given = settingOf(line, 'UNIFORM_REST_TOKEN')
  const machine = given === undefined ? machineIn(line) : undefined
  for (let attempt = 0; ; attempt++) {
    const token = machine === undefined ? given : await tokenOf(machine, base)
    if (token === undefined) throw new Failure(USAGE)
    const send = (authorization: string): Promise<Answer> => {
      const file = createReadStream(path)
      showProgress(file, size, line)
      return post(url, file, { ...headers, authorization })
    }
    const answer = typeof token === 'string' ? await send(`Bearer ${token}`) : token
    if (answer.status === 200) return report(answer.body as Counts, line)
    if (attempt === ATTEMPTS || !mayGoOn(answer, machine)) throw new Failure(problemText(answer))
    line.stderr.write(
      `${problemText(answer)}\nThe file is sent again with the same key: no row of it is created twice.\n`
    )
    await delay(1000 * Math.min(MAX_PAUSE_SECONDS, Math.max(answer.retryAfter, 2 ** attempt)))
  }
}

/** Whether the same request may go on where it ended. A token of a machine account may expire before a large file ends. */
function mayGoOn({ status, body }: Answer, machine: string | undefined): boolean {
  const isRunning = 'code' in body && body.code === 'idempotency.in-flight'
  return isRunning || REPEATED.includes(status) || (status === 401 && machine !== undefined)
}

interface Wanted {
  /** The address of the gateway, without a slash at its end. */
  readonly base: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly path: string
  readonly size: number
}

async function parseLine(line: CommandLine): Promise<Wanted> {
  const option = { type: 'string' } as const
  const options = { by: option, 'on-error': option, url: option, key: option }
  const { values, positionals } = withUsage(USAGE, () =>
    parseArgs({ args: [...line.args], options, allowPositionals: true })
  )
  const [resource, file, ...others] = positionals
  const type = TYPES[/\.(\w+)$/.exec(file ?? '')?.[1]?.toLowerCase() ?? '']
  if (resource === undefined || file === undefined || type === undefined || others.length > 0) throw new Failure(USAGE)
  const path = resolve(line.directory, file)
  const given = values.url ?? settingOf(line, 'UNIFORM_REST_URL') ?? 'http://127.0.0.1:3000'
  const base = given.replace(/\/+$/, '')
  if (!URL.canParse(base) || !/^https?:/.test(base)) throw new Failure(`${base} is no address of a gateway.\n${USAGE}`)
  const url = new URL(`${base}/${encodeURIComponent(resource)}/import`)
  if (values.by !== undefined) url.searchParams.set('by', values.by)
  if (values['on-error'] !== undefined) url.searchParams.set('onError', values['on-error'])
  try {
    const { size } = await stat(path)
    const key = values.key ?? `file-${await hashOf(path, url.search)}`
    return {
      base,
      url,
      path,
      size,
      headers: { 'content-type': type, 'content-length': String(size), 'idempotency-key': key }
    }
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${messageOf(error)}`)
  }
}

function settingOf({ environment }: CommandLine, name: string): string | undefined {
  const value = environment[name]
  return value === '' ? undefined : value
}

async function hashOf(path: string, query: string): Promise<string> {
  const hash = createHash('sha256').update(`${query}\n`)
  await pipeline(createReadStream(path), hash)
  return hash.digest('base64url')
}

/** The form that gets a token for a machine account. */
function machineIn(line: CommandLine): string | undefined {
  const id = settingOf(line, 'UNIFORM_REST_CLIENT_ID')
  const secret = settingOf(line, 'UNIFORM_REST_CLIENT_SECRET')
  if (id === undefined || secret === undefined) return undefined
  return new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret }).toString()
}

/** The token, or the answer in place of one where the same request may have one later. */
async function tokenOf(form: string, base: string): Promise<string | Answer> {
  const answer = await post(new URL(`${base}/auth/token`), Readable.from([form]), {
    'content-type': 'application/x-www-form-urlencoded'
  })
  const { access_token: token } = answer.body as { readonly access_token?: unknown }
  if (typeof token === 'string') return token
  if (REPEATED.includes(answer.status)) return answer
  throw new Failure(`No token for the machine account: ${problemText(answer)}`)
}

/** Never rejects. */
async function post(url: URL, body: Readable, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, { method: 'POST', headers })
  const answered = new Promise<IncomingMessage>((take, reject) => request.once('response', take).on('error', reject))
  request.setTimeout(MAX_SILENCE, () => request.destroy(new Error('nothing came or went for five minutes')))
  // What goes wrong is an error of the request too. An answer may come before the whole file is sent.
  const sending = pipeline(body, request).catch(() => undefined)
  try {
    const response = await answered
    const { statusCode: status = 0, headers: told } = response
    return { status, retryAfter: Number(told['retry-after'] ?? 0) || 0, body: objectIn(await text(response)) }
  } catch (error) {
    return {
      status: 0,
      retryAfter: 0,
      body: { detail: `No whole answer came from ${url.origin}: ${messageOf(error)}` }
    }
  } finally {
    request.destroy()
    await sending
  }
}

/** A proxy may answer what is no JSON. */
function objectIn(json: string): object {
  try {
    const read: unknown = JSON.parse(json)
    return typeof read === 'object' && read !== null ? read : {}
  } catch {
    return {}
  }
}

function problemText({ status, body }: Answer): string {
  const { detail, error_description: said, errors = [] } = body as Problem
  const faults = errors.map(
    (fault) => `  ${fault.pointer ?? fault.header ?? fault.parameter ?? ''} ${fault.detail ?? ''}`
  )
  return [detail ?? said ?? `The gateway answered ${status}.`, ...faults].map(printable).join('\n')
}

/** The members of problems that are shown. */
interface Problem {
  readonly detail?: string
  readonly error_description?: string
  readonly errors?: readonly Readonly<Partial<Record<'pointer' | 'header' | 'parameter' | 'detail', string>>>[]
}

/** About ten lines, however large the file is. */
function showProgress(file: Readable, size: number, { stderr }: CommandLine): void {
  let [sent, shown] = [0, 0]
  file.on('data', (piece: Buffer) => {
    sent += piece.length
    if (sent - shown < size / PROGRESS_STEPS) return
    shown = sent
    stderr.write(`${Math.floor((100 * sent) / size)} % sent\n`)
  })
}

/** The errors are lines of their own, and the counts are for people. */
function report({ errors, ...counts }: Counts, { stdout, stderr }: CommandLine): number {
  for (const { row, code, detail, pointer } of errors) {
    stdout.write(`${printable(['row', row, pointer === '' ? '-' : pointer, code, detail].join(' '))}\n`)
  }
  const told = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  stderr.write(`${told.join(', ')}\n`)
  return counts.failed === 0 ? 0 : 1
}
