import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { Account, OutsideIdentity } from '../data-service/auth/accounts/accounts.js'
import { isMachine, type MachineSecret, SLOTS } from '../data-service/auth/accounts/machines.js'
import {
  type AccountAdministration,
  AccountMistake,
  defaultName,
  LONGEST_LIFETIME,
  MAX_SIZE,
  parseOwner,
  parseOwners
} from '../data-service/auth/administration.js'
import { mintAccessTokenFor, withAccounts } from './application/databases.js'
import { parseDuration } from '../shared/settings.js'
import { loadApplication } from './application/application.js'
import { type CommandLine, Failure, printable, withUsage } from './application/command.js'

/** `uniform-rest account <command>`: the accounts of the database, whether the service runs or not (docs/accounts.md). */
export async function account(line: CommandLine): Promise<number> {
  const { run, request } = parseAccountArguments(line.args)
  if (run === undefined) {
    line.stdout.write(USAGE)
    return 0
  }
  const { application, environment } = await loadApplication(line)
  const { stdout: output, stderr: questions } = line
  await withAccounts(application, environment, (accounts) =>
    run({ accounts, input: line.stdin(), output, questions }, request)
  )
  return 0
}

/** `uniform-rest token ada@example.com` prints an access token of an account on standard output. */
export async function token(line: CommandLine): Promise<number> {
  const [email, ...others] = line.args
  if (email === undefined || others.length > 0) throw new Failure('Usage: uniform-rest token <email>')
  const { application, environment } = await loadApplication(line)
  line.stdout.write(`${await mintAccessTokenFor(application, { email, environment })}\n`)
  return 0
}

/** What a command works with. */
export interface AccountConsole {
  readonly accounts: AccountAdministration
  /** Passwords are read from here. */
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Writable
  /** Where a terminal shows what is asked for; not `output`, which may be a file. */
  readonly questions: Writable
}

/** The arguments of one command. */
interface AccountRequest {
  readonly email: string
  /** What follows the e-mail address. */
  readonly rest: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
}

interface AccountCommand {
  readonly usage: string
  readonly says: string
  readonly options?: ParseArgsConfig['options']
  /** How many arguments come after the e-mail address: none, or any number. `noEmail`: not even that. */
  readonly takes?: 'values' | 'noEmail'
  readonly run: (console: AccountConsole, request: AccountRequest) => Promise<void>
}

const IDENTITY = { issuer: { type: 'string' }, subject: { type: 'string' } } as const
const NONE = { none: { type: 'boolean' } } as const

const ACCOUNT_COMMANDS: Readonly<Record<string, AccountCommand>> = {
  add: {
    usage:
      'add <email> [--name <name>] [--role <role>]… [--owner [<kind>=]<number>]… [--claim <name>=<value>]… [--no-password]\n' +
      '  add --machine <name> [--expires <duration>] [--role <role>]… and so on',
    says:
      'makes an account; --no-password: for sign-in with an outside provider alone; --machine: for a program, with a secret ' +
      'that is printed once and, with --expires 90d, expires',
    options: {
      name: { type: 'string' },
      role: { type: 'string', multiple: true },
      owner: { type: 'string', multiple: true },
      claim: { type: 'string', multiple: true },
      'no-password': { type: 'boolean' },
      machine: { type: 'boolean' },
      expires: { type: 'string' }
    },
    run: add
  },
  list: {
    usage: 'list [--json]',
    says: 'prints all accounts',
    options: { json: { type: 'boolean' } },
    takes: 'noEmail',
    run: listAccounts
  },
  disable: { usage: 'disable <email>', says: 'ends its sessions, and it cannot log in', run: disable },
  enable: { usage: 'enable <email>', says: 'it can log in again', run: enable },
  'add-secret': {
    usage: 'add-secret <machine> [--expires <duration>]',
    says: 'gives a machine account a second secret, which is printed once',
    options: { expires: { type: 'string' } },
    run: addSecret
  },
  'remove-secret': {
    usage: 'remove-secret <machine> <1 or 2>',
    says: 'gives no new tokens for that secret; `list` has their numbers',
    takes: 'values',
    run: removeSecret
  },
  'set-password': { usage: 'set-password <email>', says: 'sets its password, and ends its sessions', run: setPassword },
  roles: {
    usage: 'roles <email> <role>… | --none',
    says: 'gives it exactly these roles',
    options: NONE,
    takes: 'values',
    run: setRoles
  },
  claims: {
    usage: 'claims <email> <name>=<value>… | --none',
    says: 'gives its tokens exactly these further claims; <name>:=<JSON> for a number, a list and so on',
    options: NONE,
    takes: 'values',
    run: setClaims
  },
  owner: {
    usage: 'owner <email> <number> | --none',
    says: 'says whose rows it owns',
    options: NONE,
    takes: 'values',
    run: setOwner
  },
  link: {
    usage: 'link <email> --issuer <iss> --subject <sub>',
    says: 'lets a person of an OpenID provider sign in to it: iss and sub as in the ID tokens of that person',
    options: IDENTITY,
    run: linkIdentity
  },
  unlink: {
    usage: 'unlink <email> --issuer <iss> --subject <sub>',
    says: 'that person can no longer sign in to it; sessions go on',
    options: IDENTITY,
    run: unlink
  }
}

const USAGE = `Usage: uniform-rest account <command>

${Object.values(ACCOUNT_COMMANDS)
  .map(({ usage, says }) => `  ${usage}\n      ${says}`)
  .join('\n')}

A password is asked for twice, or is the one line of standard input where that is no terminal.
`

/** `run` is undefined where help is asked for. Throws a Failure that says what is right. */
export function parseAccountArguments(args: readonly string[]): {
  readonly run: AccountCommand['run'] | undefined
  readonly request: AccountRequest
} {
  const [name, ...others] = args
  if (name === undefined || ['help', '--help', '-h'].includes(name)) {
    return { run: undefined, request: { email: '', rest: [], options: {} } }
  }
  const command = Object.hasOwn(ACCOUNT_COMMANDS, name) ? ACCOUNT_COMMANDS[name] : undefined
  if (command === undefined) throw new Failure(`There is no command account ${JSON.stringify(name)}.\n\n${USAGE}`)
  const usage = `Usage: uniform-rest account ${command.usage}`
  const { values, positionals } = withUsage(usage, () =>
    parseArgs({ args: others, options: command.options ?? {}, allowPositionals: true, strict: true })
  )
  const [email = '', ...rest] = positionals
  if (command.takes === 'noEmail' ? positionals.length > 0 : email === '') throw new Failure(usage)
  if (command.takes === undefined && rest.length > 0) throw new Failure(usage)
  // Either --none or at least one value: an account must not lose everything by a line that was cut short.
  if (command.takes === 'values' && rest.length > 0 === (values['none'] === true)) throw new Failure(usage)
  return { run: command.run, request: { email, rest, options: values } }
}

async function add(console: AccountConsole, { email, options }: AccountRequest): Promise<void> {
  const { accounts, output } = console
  const owners = parseOwners(texts(options['owner']), accounts.owners)
  const wanted: Account = {
    email,
    name: typeof options['name'] === 'string' ? options['name'] : defaultName(email),
    roles: texts(options['role']),
    owner: owners.owner,
    claims: { ...parseClaims(texts(options['claim'])), ...owners.claims }
  }
  if (options['machine'] === true) {
    if (options['no-password'] === true) throw new AccountMistake('A machine account never has a password.')
    const issued = await accounts.addMachine(wanted, lifetimeIn(options))
    return writeSecret(output, `Added ${email}: ${describe(issued.account)}.`, issued)
  }
  if (options['expires'] !== undefined) throw new AccountMistake('--expires is for a secret: add --machine.')
  await accounts.checkNew(wanted)
  const password = options['no-password'] === true ? undefined : await readPassword(console)
  const added = await accounts.add(wanted, password)
  writeLine(output, `Added ${added.email}: ${describe(added)}.`)
}

async function addSecret({ accounts, output }: AccountConsole, { email, options }: AccountRequest): Promise<void> {
  const issued = await accounts.addSecret(email, lifetimeIn(options))
  writeSecret(output, `Added secret ${issued.slot} of ${email}.`, issued)
}

async function removeSecret({ accounts, output }: AccountConsole, { email, rest }: AccountRequest): Promise<void> {
  const [number, ...others] = rest
  const slot = SLOTS.find((one) => String(one) === number)
  if (slot === undefined || others.length > 0) throw new AccountMistake('The number of one secret is needed: 1 or 2.')
  const account = await accounts.removeSecret(email, slot)
  writeLine(output, `Removed secret ${slot} of ${account.email}. ${OUTLIVES}`)
}

/** Each on a line of its own, for a script that takes the secret from here. */
function writeSecret(
  output: Writable,
  said: string,
  { account, secret, expiresAt }: Awaited<ReturnType<AccountAdministration['addSecret']>>
): void {
  writeLine(output, said)
  writeLine(output, `Client id: ${account.email}`)
  writeLine(output, `Client secret: ${secret}`)
  const end = expiresAt === null ? 'It does not expire.' : `It expires at ${new Date(expiresAt).toISOString()}.`
  writeLine(output, `Keep the secret now: it is shown this once. ${end}`)
}

function lifetimeIn({ expires }: AccountRequest['options']): number | undefined {
  if (typeof expires !== 'string') return undefined
  const lifetime = parseDuration(expires)
  if (lifetime instanceof Error)
    throw new AccountMistake(`--expires ${lifetime.message}, not ${JSON.stringify(expires)}.`)
  if (lifetime > LONGEST_LIFETIME) throw new AccountMistake(`--expires must be at most 3650d, not ${expires}.`)
  return lifetime
}

async function listAccounts({ accounts, output }: AccountConsole, { options }: AccountRequest): Promise<void> {
  const all = await accounts.list()
  if (options['json'] === true) {
    const shown = all.map(({ email, name, roles, owner, claims, passwordHash, isSample, ...one }) => ({
      email,
      name,
      roles,
      // As in answers of the API: a number of 64 bits is a text.
      owner: owner === null ? null : String(owner),
      claims,
      hasPassword: passwordHash !== null,
      sample: isSample,
      createdAt: new Date(one.createdAt).toISOString(),
      disabledAt: one.disabledAt === null ? null : new Date(one.disabledAt).toISOString(),
      identities: one.identities,
      secrets: one.secrets.map(shownSecret)
    }))
    output.write(`${printableJson(JSON.stringify(shown, null, 2))}\n`)
    return
  }
  const width = Math.max(0, ...all.map(({ email }) => printable(email).length))
  for (const one of all) {
    const states = [
      ...(isMachine(one) ? ['machine'] : one.passwordHash === null ? ['no password'] : []),
      ...(one.isSample ? ['sample'] : []),
      ...one.identities.map((identity) => `linked to ${identityText(identity)}`),
      ...one.secrets.map(secretText),
      ...(one.disabledAt === null ? [] : [`disabled since ${new Date(one.disabledAt).toISOString()}`])
    ]
    writeLine(output, `${printable(one.email).padEnd(width)}  ${[describe(one), ...states].join(', ')}`)
  }
  if (all.length === 0) output.write('There are no accounts. `uniform-rest account add <email>` makes one.\n')
}

/** What of a secret is shown: never its hash. */
function shownSecret({ slot, createdAt, expiresAt, lastUsedAt }: MachineSecret): object {
  const text = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
  return { number: slot, createdAt: text(createdAt), expiresAt: text(expiresAt), lastUsedAt: text(lastUsedAt) }
}

function secretText({ slot, createdAt, expiresAt, lastUsedAt }: MachineSecret): string {
  const text = (at: number): string => new Date(at).toISOString()
  const end = expiresAt === null ? '' : `, expires ${text(expiresAt)}`
  const used = lastUsedAt === null ? 'never used' : `last used ${text(lastUsedAt)}`
  return `secret ${slot} (made ${text(createdAt)}${end}, ${used})`
}

async function disable({ accounts, output }: AccountConsole, { email }: AccountRequest): Promise<void> {
  const { account, sessions } = await accounts.disable(email)
  writeLine(output, `Disabled ${account.email}, and ended ${counted(sessions)}. ${OUTLIVES}`)
}

async function enable({ accounts, output }: AccountConsole, { email }: AccountRequest): Promise<void> {
  const account = await accounts.enable(email)
  writeLine(output, `${account.email} ${account.disabledAt === null ? 'was not disabled' : 'can log in again'}.`)
}

async function setPassword(console: AccountConsole, { email }: AccountRequest): Promise<void> {
  const { accounts, output } = console
  await accounts.get(email)
  const { account, sessions } = await accounts.setPassword(email, await readPassword(console))
  writeLine(output, `Set the password of ${account.email}, and ended ${counted(sessions)}. ${OUTLIVES}`)
}

async function setRoles({ accounts, output }: AccountConsole, { email, rest }: AccountRequest): Promise<void> {
  const { account, before, after } = await accounts.setRoles(email, rest)
  writeLine(output, `${account.email} has ${rolesText(after)}; it had ${rolesText(before)}. ${NEXT_REFRESH}`)
}

async function setClaims({ accounts, output }: AccountConsole, { email, rest }: AccountRequest): Promise<void> {
  const { account, before, after } = await accounts.setClaims(email, parseClaims(rest))
  writeLine(output, `${account.email} has ${claimsText(after)}; it had ${claimsText(before)}. ${NEXT_REFRESH}`)
}

async function setOwner({ accounts, output }: AccountConsole, { email, rest }: AccountRequest): Promise<void> {
  const [text, ...others] = rest
  if (others.length > 0) throw new AccountMistake('An account has one owner at most.')
  const { account, before, after } = await accounts.setOwner(email, text === undefined ? null : parseOwner(text))
  writeLine(output, `${account.email} has ${ownerText(after)}; it had ${ownerText(before)}. ${NEXT_REFRESH}`)
}

async function linkIdentity({ accounts, output }: AccountConsole, { email, options }: AccountRequest): Promise<void> {
  const identity = identityIn(options)
  const isNew = await accounts.link(email, identity)
  writeLine(output, `${email} ${isNew ? 'is now' : 'was already'} linked to ${identityText(identity)}.`)
}

async function unlink({ accounts, output }: AccountConsole, { email, options }: AccountRequest): Promise<void> {
  const identity = identityIn(options)
  await accounts.unlink(email, identity)
  writeLine(output, `${email} is no longer linked to ${identityText(identity)}. Its sessions go on.`)
}

function identityIn({ issuer, subject }: AccountRequest['options']): OutsideIdentity {
  if (typeof issuer === 'string' && typeof subject === 'string') return { issuer, subject }
  throw new AccountMistake('--issuer and --subject are needed: iss and sub as in the ID tokens of the provider.')
}

function identityText({ issuer, subject }: OutsideIdentity): string {
  return `${JSON.stringify(subject)} at ${issuer}`
}

const OUTLIVES = 'Access tokens that were handed out stay valid for the rest of ACCESS_TOKEN_TTL.'
const NEXT_REFRESH = 'Tokens show it from the next refresh on.'

/** Claims as arguments: `name=text`, or `name:=JSON`. Throws an AccountMistake. */
export function parseClaims(args: readonly string[]): Account['claims'] {
  const claims = new Map<string, unknown>()
  for (const arg of args) {
    const at = arg.indexOf('=')
    const isJson = at > 0 && arg[at - 1] === ':'
    const name = arg.slice(0, isJson ? at - 1 : Math.max(0, at))
    if (name === '')
      throw new AccountMistake(`A claim is <name>=<value> or <name>:=<JSON>, not ${JSON.stringify(arg)}.`)
    if (claims.has(name)) throw new AccountMistake(`The claim ${name} is given twice.`)
    const value = arg.slice(at + 1)
    claims.set(name, isJson ? parseClaim(name, value) : value)
  }
  return Object.fromEntries(claims)
}

function parseClaim(name: string, text: string): unknown {
  // Before it is parsed: what is nested deeper could not be walked through.
  if (Buffer.byteLength(text) > MAX_SIZE) {
    throw new AccountMistake(`The claim ${name} is longer than ${MAX_SIZE} bytes of JSON.`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new AccountMistake(`The claim ${name} is no JSON: ${text}. For a text write ${name}=${text}.`, {
      cause: error
    })
  }
}

/** Asks a terminal twice and shows nothing of it. Without a terminal it is the first line of the input. */
async function readPassword({ input, questions }: AccountConsole): Promise<string> {
  if (input.isTTY !== true) return firstLine(input)
  const ask = async (question: string): Promise<string> => {
    try {
      questions.write(question)
      return await readHidden(input)
    } finally {
      // The line break that was typed is not shown either.
      questions.write('\n')
    }
  }
  const password = await ask('Password: ')
  if ((await ask('Again: ')) !== password) throw new AccountMistake('The two differ: nothing was changed.')
  return password
}

/** A line from a terminal, which shows nothing of it: readline takes over the echo, and has nowhere to write it. */
function readHidden(input: Readable): Promise<string> {
  const lines = createInterface({ input, terminal: true })
  return new Promise<string>((resolve, reject) => {
    lines.once('line', resolve).once('close', () => reject(new Failure('Cancelled: nothing was changed.')))
  }).finally(() => lines.close())
}

/** Without a byte order mark. Bytes that are no UTF-8 are rejected: all of them would become the same character. */
async function firstLine(input: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    const end = bytes.findIndex((byte) => byte === LINE_FEED || byte === CARRIAGE_RETURN)
    chunks.push(end < 0 ? bytes : bytes.subarray(0, end))
    if (end >= 0) break
  }
  if (chunks.length === 0) {
    throw new AccountMistake('A password is needed: as the one line of standard input, or typed into a terminal.')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (error) {
    throw new AccountMistake('The password on standard input is not UTF-8: nothing was changed.', { cause: error })
  }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** What is stored may hold characters that a terminal obeys, or that make one address look like another. */
function writeLine(output: Writable, line: string): void {
  output.write(`${printable(line)}\n`)
}

/** The same JSON, with escapes in place of the characters that are not printable. */
function printableJson(text: string): string {
  return text.replace(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, (one) =>
    one.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  )
}

function describe({ name, roles, owner, claims }: Account): string {
  return [name, rolesText(roles), ownerText(owner), claimsText(claims)].join(', ')
}

function rolesText(roles: Account['roles']): string {
  return roles.length === 0 ? 'no role' : `${roles.length === 1 ? 'role' : 'roles'} ${roles.join(' ')}`
}

function ownerText(owner: Account['owner']): string {
  return owner === null ? 'no owner' : `owner ${owner}`
}

function claimsText(claims: Account['claims']): string {
  const entries = Object.entries(claims)
  return entries.length === 0 ? 'no further claims' : `claims ${JSON.stringify(claims)}`
}

function counted(sessions: number): string {
  return `${sessions} ${sessions === 1 ? 'session' : 'sessions'}`
}

function texts(option: AccountRequest['options'][string]): readonly string[] {
  return Array.isArray(option) ? option.filter((one) => typeof one === 'string') : []
}
