import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { GrantRejected } from '../../gateway/session/machine-tokens.js'
import { TokenRejected } from '../../shared/access-token.js'
import { DomainError } from '../../shared/errors.js'
import { isSoak } from '../harness/in-soak.js'
import { packageRoot } from '../harness/package-root.js'
import { NO_READERS, READERS } from './readers.js'

/** Modules that read what a client sends: every function and class that they export is named in readers.ts. */
const ROOMS = [
  /^gateway\/(?:http|session|renderer)\//,
  /^gateway\/entity-routes\/exports\.js$/,
  /^shared\/(?!gen\/)/,
  /^data-service\/plan\/(?:authorize|batch-requests|write-requests|parsing\/[a-z-]+)\.js$/,
  /^data-service\/entity\/(?:key|fields\/(?:numbers|operators|json-values|json-parser)|types\/[a-z-]+)\.js$/,
  /^data-service\/auth\/(?:login|tokens\/(?:claims|refresh-token))\.js$/
]

const SMALL = 4 * 1024
const LARGE = 64 * 1024
const TIMES = LARGE / SMALL
/** 16 small texts against a large one: 1 is linear, 16 is quadratic. */
const LIMIT = 6
/** Milliseconds. Whatever takes quadratic time takes tens of them for 64 KiB: quicker readers need no comparison. */
const QUICK = 10
/** Rounds of each attempt. The first attempt that finds linear time ends the search: caches and the collector add noise. */
const ROUNDS = [1, 5, 9, 40]

/** Pieces that a header, path, query, cookie, cursor or body may repeat, those first that go into every frame. */
const FRAMED = 14
const WORDS =
  String.raw`\" "" "\" ,,a %20 %41 10 1. /a ../ %2F :: 0: -- a, a; a= a=& a=1& fields=id& a="b", "a", "a""` +
  String.raw` W/"AA==", AA== a. ;q= text/html; text/html, handling=" handling=x, [::1]:1, "[::1]:1", filters[` +
  String.raw` filters[id].value=1& [1], {"a": {"a":1}, "a":1, "\u0061", 1e9, null, \u0000 same-site, cross-site &_csrf=` +
  String.raw` ~1 ~0 🎈 é`
const WITH_BLANKS = [
  '" ',
  ' ,',
  'a ',
  'a=b; ',
  ';q=0 ',
  ': ',
  '127.0.0.1, ',
  'app_auth_access=a; ',
  '; app_antiforgery='
]
const PIECES = [
  ...' \t"\\,;%=&.0a/[',
  ...']{}()-+:?*@#_\u0000\u00e9',
  ...WORDS.split(' '),
  ...WITH_BLANKS,
  '\r\n',
  'GET / HTTP/1.1\r\n',
  '\ud83c'
]
/** What may stand around them, so that a reader goes to the end before it finds that nothing fits. */
const FRAMES: readonly (readonly [before: string, after: string])[] = [
  ['', ''],
  ['a=', '"'],
  ['"', ''],
  ['"', '"x'],
  ['1', '1'],
  ['handling="', ''],
  ['{"a":"', '"}'],
  ['{"a":[', ']}'],
  ['{"a":1', '1}'],
  ['bearer ', '!'],
  ['text/html;q=', 'x']
]

function textOf(piece: string, [before, after]: readonly [string, string], size: number): string {
  return before + piece.repeat(Math.ceil(size / piece.length)).slice(0, size - before.length - after.length) + after
}

/** Nested to the end and closed again. */
function nested(open: string, close: string, size: number): string {
  const depth = Math.floor(size / (open.length + close.length))
  return open.repeat(depth) + close.repeat(depth)
}

/** An object of many members, each said once. */
function members(size: number): string {
  const count = Math.floor(size / 12)
  return `{${Array.from({ length: count }, (_, index) => `"m${String(index).padStart(6, '0')}":1`).join()}}`
}

interface Kind {
  readonly name: string
  readonly text: (size: number) => string
}

function framed(frame: readonly [string, string], pieces: readonly string[]): Kind[] {
  return pieces.map((piece) => ({
    name: `${JSON.stringify(frame[0])} ${JSON.stringify(piece)}… ${JSON.stringify(frame[1])}`,
    text: (size) => textOf(piece, frame, size)
  }))
}

const [UNFRAMED, ...OTHER_FRAMES] = FRAMES.map((frame, index) =>
  framed(frame, index === 0 ? PIECES : PIECES.slice(0, FRAMED))
)

const OF_EVERY_READER: readonly Kind[] = [
  { name: 'nested arrays', text: (size) => nested('[', ']', size) },
  { name: 'nested objects', text: (size) => nested('{"a":', '}', size) + ' ' },
  { name: 'nested arrays in a member', text: (size) => `{"a":${nested('[', ']', size)}}` },
  { name: 'many members', text: members }
]

/**
 * In `npm test` each reader gets every 18th text without a frame, and every 54th piece that has one.
 * The next reader gets others. In the soak each gets all.
 */
const SHARES = isSoak ? { unframed: 1, framed: 1 } : { unframed: 18, framed: 54 }

function kindsOf(reader: number): Kind[] {
  const shared = (kinds: readonly Kind[], share: number): Kind[] => kinds.filter((_, at) => (at + reader) % share === 0)
  return [...OF_EVERY_READER, ...shared(UNFRAMED ?? [], SHARES.unframed), ...shared(OTHER_FRAMES.flat(), SHARES.framed)]
}

/** Rejections are answers: anything else that is thrown would be a 500. */
function isRejection(error: unknown): boolean {
  return error instanceof DomainError || error instanceof TokenRejected || error instanceof GrantRejected
}

async function run(read: (text: string) => unknown, text: string): Promise<void> {
  try {
    await read(text)
  } catch (error) {
    if (!isRejection(error)) throw error
  }
}

/** Milliseconds of this process's own CPU: a wall clock also counts what other processes of the machine take. */
async function time(read: (text: string) => unknown, texts: readonly string[]): Promise<number> {
  const started = process.cpuUsage()
  for (const text of texts) await run(read, text)
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1000
}

/** Of each kind the large text, which every reader is given. */
const LARGE_TEXTS = new Map<Kind, string>()

function largeOf(kind: Kind): string {
  const made = LARGE_TEXTS.get(kind) ?? kind.text(LARGE)
  LARGE_TEXTS.set(kind, made)
  return made
}

/** How much longer one large text takes than as many characters in small ones. */
async function ratio(read: (text: string) => unknown, kind: Kind, rounds: number): Promise<number> {
  const large = largeOf(kind)
  const small = Array.from({ length: TIMES }, () => kind.text(SMALL))
  const times: { large: number; small: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    times.push({ large: await time(read, [large]), small: await time(read, small) })
  }
  // The least of each: whatever else happens meanwhile takes time and gives none.
  const least = Math.min(...times.map((one) => one.large))
  return least < QUICK ? 0 : least / Math.min(...times.map((one) => one.small))
}

/** undefined for a reader that takes linear time. */
async function slowness(read: (text: string) => unknown, kind: Kind): Promise<number | undefined> {
  if ((await time(read, [largeOf(kind)])) < QUICK) return undefined
  let found = 0
  for (const rounds of ROUNDS) {
    found = await ratio(read, kind, rounds)
    if (found < LIMIT) return undefined
  }
  return found
}

async function exportsOf(file: string): Promise<string[]> {
  const module: unknown = await import(pathToFileURL(join(packageRoot, 'dist', file)).href)
  if (typeof module !== 'object' || module === null) return []
  return Object.entries(module).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))
}

function modules(): string[] {
  return readdirSync(join(packageRoot, 'dist'), { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.js') && ROOMS.some((room) => room.test(path)))
}

describe('readers of what a client sends', () => {
  it('are all in the table of readers.ts, or left out of it for a reason', async () => {
    const exported = new Set((await Promise.all(modules().map(exportsOf))).flat())
    const named = [...Object.keys(READERS), ...Object.values(NO_READERS).flatMap((names) => names.split(' '))]
    expect(
      [...exported].filter((name) => !named.includes(name)).toSorted(),
      'to be added to READERS of test/fitness/readers.ts, or to NO_READERS with the reason'
    ).to.deep.equal([])
    expect(named.filter((name) => !exported.has(name)).toSorted(), 'no longer exported').to.deep.equal([])
    expect(new Set(named).size, 'named twice').to.equal(named.length)
  })

  for (const [at, [name, read]] of Object.entries(READERS).entries()) {
    it(`${name} takes linear time for 64 KiB of anything, and rejects it cleanly`, async () => {
      for (const kind of kindsOf(at)) {
        let times: number | undefined
        try {
          times = await slowness(read, kind)
        } catch (error) {
          throw new Error(`${kind.name} is not refused, it fails`, { cause: error })
        }
        expect(times, `${kind.name}: a large text against small ones of the same length`).to.equal(undefined)
      }
    }).timeout(600_000)
  }

  // It is as slow as it has to be.
  if (isSoak)
    it('that take quadratic time are found by this test', async () => {
      const slow = (text: string): unknown => text.slice(0, (3 * text.length) / 16).match(/0+$/)
      expect(
        await slowness(slow, {
          name: 'zeros',
          text: (size) => '0'.repeat((3 * size) / 16 - 1).concat('1'.repeat((13 * size) / 16 + 1))
        })
      ).to.be.greaterThan(LIMIT)
    }).timeout(600_000)
})
