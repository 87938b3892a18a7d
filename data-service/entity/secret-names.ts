import type { FieldType } from './fields/field.js'
import type { Children, Entity } from './entity.js'
import { wordsOf } from './fields/names.js'

// Which columns hold secrets, as far as their names tell: passwords and their hashes, tokens, keys of APIs, codes that reset
// a password, sessions. A name proves nothing, so that the answer is a suspicion: a person decides.

/** A column with what is around it, by the names of the database or of the API. */
export interface NamedColumn {
  readonly table: string
  readonly column: string
  readonly type: FieldType
  /** All columns of the table. */
  readonly beside: readonly string[]
}

/** Whether the name of a column says that it holds a secret. Timestamps, flags and words of a list hold none. */
export function isSuspect({ table, column, type, beside }: NamedColumn): boolean {
  const words = singular(column)
  const isNumber = type === 'int' || type === 'long'
  if (!isNumber && !TEXTS.includes(type)) return false
  if (OF_FACTORS.test(column)) return true
  if (ABOUT.has(words.at(-1) ?? '') || ASKS.has(words[0] ?? '')) return false
  if (isNumber) return NUMBERS.has(words.at(-1) ?? '') || isCode(words, table)
  return (
    OTHER_SCRIPTS.test(column.normalize('NFKC').toLowerCase()) ||
    OF_PROTOCOLS.test(column) ||
    OF_HASHES.test(column) ||
    isPassword(words) ||
    isHash(words, table) ||
    isTokenName(words) ||
    isKeyName(words, table) ||
    isSession(words, table) ||
    isCode(words, table) ||
    isOfSecrets(words, { table, beside })
  )
}

/** Types that can hold a secret, besides numbers. */
const TEXTS: readonly FieldType[] = ['string', 'binary', 'json', 'guid', 'base64url']

/** The words of a name, each without the number or the plural at its end: `password2`, `backup_codes`. */
function singular(name: string): string[] {
  return wordsOf(name).map((word) => word.replaceAll(/\d/g, '').replace(/(?<=[a-rt-z]{2}[a-rtv-z])s$/, ''))
}

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '))

/** Last words of columns that say something about a secret: `token_type`, `last_passwd_gen`, `password_expires_at`. */
const ABOUT = wordSet(
  'age algo algorithm allowed at attempt change changed count created date description disabled enabled endpoint expire ' +
    'expired expires expiration expiry format gen kind label last length limit modified name policy required scope status ' +
    'strength time timestamp title ttl type updated uri url used valid validity version'
)
/** First words of flags: `has_password`, `must_change_password`. */
const ASKS = wordSet('allow can enable force has is may must need require send show use uses')

/** What a whole number can be: a PIN of digits. */
const NUMBERS = wordSet('cvc cvv otp passcode passwd password pin pincode pwd totp')

const PASSWORDS =
  /passw|passphrase|passcode|passord|passhash|secret(?!ar)|credential|kennwort|contrasena|motdepasse|wachtwoord|salasana/
const OTHER_PASSWORDS =
  /losenord|lozinka|losungswort|zugangscode|geheim|segredo|palavrapasse|motpasse|adgangskode|kodeord|zaporka|jelszo/
const MORE_PASSWORDS = /slaptazodi|katasandi|matkhau|connectionstring|connstring/
/** The same word in names that have no letter from a to z. */
const OTHER_SCRIPTS = /пароль|密码|密碼|パスワード|비밀번호/u
/** SIP's digest of a password, SNMP's community, which is one, LDAP's and others. */
const OF_PROTOCOLS =
  /^(?:digest_?)?ha1b?$|snmp_?(?:r[ow]_?)?community|^r[ow]_?community$|^bindpw$|^pgp_?private|keytab$/i
/** What signs somebody in without a password, or beside one. */
const OF_FACTORS = /^(?:totp|otpauth)_?ur[il]$|two_?factor_?recovery|^remember_?(?:selector|series|validator)$/i
/** What is only said of a password. */
const OF_HASHES = /^(?:argon2|bcrypt|lmhash|nthash|ntlm|passkey|pwhash|scrypt)$/i
const PASSWORD_WORDS = wordSet(
  'cvc cvv dsn geslo haslo heslo hmac mdp mfa mima mnemonic otp parol parola parool pass pepper pin pincode psk psw pswd pw ' +
    'pwd pwdhash salt senha sifre totp userpw xprv'
)
/** Words that are a password in a table of users, and a code, a speech or a checksum (`md5`, `sha256`) elsewhere. */
const PASSWORDS_OF_USERS = wordSet('clave md parole sha verifier')

/** Words that end in `pass` and are something else. */
const NO_PASS = /^(?:by|com|over|sur|tres|under)pass$/
const AFTER_PASS = wordSet('code crypted encrypted hash key md new old plain salt seed sha temp value')

function saysPassword(words: readonly string[]): boolean {
  const name = words.join('')
  return [PASSWORDS, OTHER_PASSWORDS, MORE_PASSWORDS].some((one) => one.test(name))
}

function isPassword(words: readonly string[]): boolean {
  const last = words.at(-1) ?? ''
  if (saysPassword(words)) return last !== 'id'
  if (last.endsWith('pwd') || (last.endsWith('pass') && !NO_PASS.test(last))) return true
  return PASSWORD_WORDS.has(last) || words.some((word) => PASSWORD_WORDS.has(word) && follows(words, word, AFTER_PASS))
}

/** Whether a word is there, and one of the others right after it. */
function follows(words: readonly string[], word: string, after: ReadonlySet<string>): boolean {
  return words.some((one, at) => one === word && after.has(words[at + 1] ?? ''))
}

/** Tables of people who log in. */
const USER_TABLE = /^(?:account|admin|administrator|login|member|user)s?$/
/** What windows keeps of a password. */
const KINDS_OF_HASH = wordSet('lm nt ntlm')
/** What other hashes in a table of users are of. */
const HASHED = wordSet('avatar content email file image ip mail photo picture')

/** A hash in a table of users is that of a password unless its name says of what. */
function isHash(words: readonly string[], table: string): boolean {
  const last = words.at(-1) ?? ''
  const before = words.at(-2) ?? ''
  if (last === 'hash' && KINDS_OF_HASH.has(before)) return true
  if (!singular(table).some((word) => USER_TABLE.test(word))) return false
  return PASSWORDS_OF_USERS.has(last) || ((last === 'hash' || last === 'digest') && !HASHED.has(before))
}

const AFTER_TOKEN = wordSet('auth data digest encrypted hash key plain secret sha string value')

function isTokenName(words: readonly string[]): boolean {
  const last = words.at(-1) ?? ''
  if (last === 'jwt' || last === 'bearer' || last.endsWith('jeton')) return true
  return last.endsWith('token') || follows(words, 'token', AFTER_TOKEN)
}

/** What stands before `key` and makes it a secret. Other keys, `sort_key` and `foreign_key`, are names. */
const KEY_OF = wordSet(
  'access account act activation admin aes api app application auth captcha cert client confirm confirmation ' +
    'consumer cron crypt crypto decryption deploy encryption extension feed hash hmac install integration licence ' +
    'license login master otp preshared priv private radius recaptcha recovery remember reset rsa secure security ' +
    'server service sess session share shared signature signing ssh ssl stripe tacac tls unlock user validation ' +
    'verification verify wallet webhook whitelabel wifi'
)
const KEY_WORD =
  /^(?:access|act|api|auth|client|crypt|encryption|license|login|otp|private|secure|sess|session|shared|user)key$/
const AFTER_KEY = wordSet('crypted data digest encrypted hash pem plain value')

/** Tables of what is shared by a link, whose key opens it. */
const SHARE_TABLE = /^shared?$/

function isKeyName(words: readonly string[], table: string): boolean {
  if (['pem', 'privkey', 'privatepem', 'sshprivate'].includes(words.join(''))) return true
  if (words.at(-1) === 'key') {
    // Of what the address of a page shows without a login: `ticket_url_key`. A shop's `url_key` is the name in its addresses.
    if (words.length > 2 && words.at(-2) === 'url') return true
    if (singular(table).some((word) => SHARE_TABLE.test(word))) return true
    // What unlocks a program that was bought. Its table is that of the programs, or of their keys.
    if (words.join('') === 'softwarekey') return true
  }
  return words.some((word, at) => {
    const isNamed = KEY_WORD.test(word) || (word === 'key' && KEY_OF.has(words[at - 1] ?? ''))
    return isNamed && (at === words.length - 1 || AFTER_KEY.has(words[at + 1] ?? ''))
  })
}

/** Tables of sessions, and the words that their ids and data have. */
const SESSION_TABLE = /^sess(?:ion)?$/
const SESSION_DATA = wordSet('blob data payload session value var')
const SESSION_ID = /^(?:php)?s(?:ess(?:ion)?)?id$|^sess(?:ion)?(?:data|key)$/
const AFTER_SESSION = wordSet('cookie data hash id key payload string value')

/** Who knows the id of a session has it: not only its data are secret. */
function isSession(words: readonly string[], table: string): boolean {
  const last = words.at(-1) ?? ''
  if (follows(words, 'session', AFTER_SESSION) || follows(words, 'sess', AFTER_SESSION)) return true
  if (last === 'cookie' || follows(words, 'cookie', AFTER_SESSION)) return true
  if (words.join('') === 'session' || SESSION_ID.test(words.join(''))) return true
  if (!singular(table).some((word) => SESSION_TABLE.test(word))) return false
  return SESSION_DATA.has(last) || ['id', 'key', 'hash', 'ssid', 'keyid'].includes(words.join(''))
}

/** What is sent to somebody to prove who they are. */
const PROOFS = wordSet(
  'access activation auth authentication authorization backup confirm confirmation factor forgot forgotten invitation invite ' +
    'login magic mfa otp passwd password recover recovery remember reset scratch security sms totp twofactor unlock validation ' +
    'verification verify'
)
/** What a code opens, and what a seed or a verifier is of. */
const OPENED = new Map([
  ['code', wordSet('door gate lock')],
  ['seed', wordSet('recovery tfa wallet')],
  ['phrase', wordSet('recovery seed')],
  ['verifier', wordSet('code oauth srp')]
])
const PROOF_WORDS = wordSet('code guid hash link nonce string uuid')

function isCode(words: readonly string[], table: string): boolean {
  const last = words.at(-1) ?? ''
  if (words.join('') === 'userhash') return true
  if (OPENED.get(last)?.has(words.at(-2) ?? '') === true) return true
  if (last === 'answer' && words.includes('security')) return true
  if (words.length > 1) return PROOF_WORDS.has(last) && PROOFS.has(words.at(-2) ?? '')
  return PROOF_WORDS.has(last) && singular(table).some((word) => PROOFS.has(word))
}

const SECRET_TABLES =
  /^(?:accesstoken|api|apikey|authtoken|credential|jwt|oauth|passwd|password|secret|token|verification|verifier)$/
const SECRET_VALUES = wordSet(
  'activation code digest hash hashed key keydigest keyhash keyvalue seed validation value verifier'
)

/** Tables of what is secret itself, and the names that it has there. */
const HOLDERS = /^(?:credential|secret|vault)$/
const HELD = wordSet('body ciphertext content data text')

/** Of tables such as `remember_me`: who has it is signed in. */
const REMEMBERED = wordSet('data selector serie validator value')

/** Short names that the table or the columns beside them make a secret: `key` of an API table, `value` beside `attribute`. */
function isOfSecrets(words: readonly string[], { table, beside }: Pick<NamedColumn, 'table' | 'beside'>): boolean {
  const name = words.join('')
  if (name === 'value' && beside.some((one) => /^attr(?:ibute)?(?:name)?$/.test(singular(one).join('')))) return true
  if (HELD.has(name) && singular(table).some((word) => HOLDERS.test(word))) return true
  if (REMEMBERED.has(name) && singular(table).includes('remember')) return true
  if (!SECRET_VALUES.has(name)) return false
  const others = beside.map(singular)
  return (
    singular(table).some((word) => SECRET_TABLES.test(word)) ||
    // A code beside a password resets it.
    (name !== 'value' && others.some((one) => saysPassword(one) && !ABOUT.has(one.at(-1) ?? '')))
  )
}

/** The visible columns of an entity and of its own children whose names say that they are secrets, a line each. */
export function visibleSuspects(entity: Entity): string[] {
  return [...suspectsOf(entity, entity.name), ...entity.children.flatMap((one) => suspectsOfChildren(one, entity.name))]
}

/** Children that are rows of a resource are named with it. */
function suspectsOfChildren(children: Children, path: string): string[] {
  if (children.resource !== undefined) return []
  const own = `${path}.${children.name}`
  return [...suspectsOf(children, own), ...children.children.flatMap((one) => suspectsOfChildren(one, own))]
}

function suspectsOf({ table, columns }: Pick<Entity, 'table' | 'columns'>, path: string): string[] {
  const beside = columns.map(({ column }) => column)
  return columns
    .filter(({ column, field }) => !field.hidden && isSuspect({ table, column, type: field.type, beside }))
    .map(({ name, field: { readableBy } }) =>
      readableBy === undefined ? `${path}.${name}` : `${path}.${name}, for those with ${readableBy}`
    )
}
