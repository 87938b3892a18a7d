import { createPrivateKey, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname, join } from 'node:path'
import { generate } from 'selfsigned'

// Makes what docker-compose.yml needs of passwords, keys and certificates, in a volume for each kind of container, so that
// none sees another one's. It runs before the others at each `docker compose up`: passwords and authorities stay as they
// are, certificates are issued anew for a year. The authority of the inside is not that of the public certificate, since
// data services take whoever has a certificate of the inside for a caller of theirs.

/** The folder with the volumes: authority, database, migrations, data-service, gateway and balancer. */
const ROOT = '/keys'
/** The users of the containers: that of our image, and those of the images mariadb and haproxy. */
const USERS = { service: 65_532, mariadb: 999, haproxy: 99 }
const DAY_MS = 86_400_000
const CERTIFICATE_DAYS = 365
const AUTHORITY_DAYS = 3650
/** Databases of the store, and the accounts of the database server that use them. */
const DATABASES = { DATABASE_URL: 'store', REVIEWS_DATABASE_URL: 'reviews' }

/** The host of the database server for each data service. */
const databaseHosts = (process.env['DATABASE_HOSTS'] ?? 'database database').split(' ')
const publicUrl = new URL(process.env['PUBLIC_BASE_URL'] ?? 'https://127.0.0.1:8443')

/** @typedef {{ readonly cert: string, readonly key: string }} Certificate */

/**
 * Writes a file for one user alone. It is never seen half written.
 *
 * @param {string} path from the root
 * @param {string} text
 * @param {number} user
 */
function write(path, text, user) {
  const file = join(ROOT, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, text, { mode: 0o400 })
  chownSync(`${file}.new`, user, user)
  renameSync(`${file}.new`, file)
}

/**
 * The text of a file of the volume `authority`, which is made once.
 *
 * @param {string} name
 * @param {() => string | Promise<string>} make
 */
async function kept(name, make) {
  const path = join(ROOT, 'authority', name)
  if (!existsSync(path)) write(join('authority', name), await make(), 0)
  return readFileSync(path, 'utf8')
}

/** @param {string} name */
const password = (name) => kept(name, () => randomBytes(24).toString('base64url'))

/**
 * @param {string} name
 * @returns {Promise<Certificate>}
 */
async function authority(name) {
  const both = await kept(`${name}.pem`, async () => {
    const made = await generate([{ name: 'commonName', value: `uniform-rest ${name}` }], {
      keyType: 'ec',
      algorithm: 'sha256',
      notAfterDate: new Date(Date.now() + AUTHORITY_DAYS * DAY_MS),
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, critical: true }
      ]
    })
    return `${made.cert}\n${made.private}`
  })
  const cert = new X509Certificate(both).toString()
  const key = createPrivateKey(both).export({ type: 'pkcs8', format: 'pem' }).toString()
  return { cert, key }
}

/**
 * @param {Certificate} ca
 * @param {readonly string[]} names DNS names and addresses
 * @returns {Promise<Certificate>}
 */
async function issue(ca, names) {
  const made = await generate([{ name: 'commonName', value: names[0] ?? '' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ca,
    notAfterDate: new Date(Date.now() + CERTIFICATE_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
      {
        name: 'subjectAltName',
        altNames: names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name }))
      }
    ]
  })
  return { cert: made.cert, key: made.private }
}

/**
 * A certificate of the inside with its key and the authority. The key is written first, as settings.md asks.
 *
 * @param {string} folder
 * @param {Certificate} ca
 * @param {readonly string[]} names
 */
async function writeTls(folder, ca, names) {
  const { cert, key } = await issue(ca, names)
  write(`${folder}/tls.key`, key, USERS.service)
  write(`${folder}/tls.pem`, cert, USERS.service)
  write(`${folder}/ca.pem`, ca.cert, USERS.service)
}

/** The statements that make the databases and accounts of a new database server. */
async function initStatements() {
  const rights = { store: 'SELECT, INSERT, UPDATE, DELETE', migrations: 'ALL' }
  const lines = Object.values(DATABASES).map((name) => `CREATE DATABASE ${name} CHARACTER SET utf8mb4;`)
  for (const [user, privileges] of Object.entries(rights)) {
    lines.push(`CREATE USER ${user}@'%' IDENTIFIED BY '${await password(user)}';`)
    for (const name of Object.values(DATABASES)) lines.push(`GRANT ${privileges} ON ${name}.* TO ${user}@'%';`)
  }
  // Nodes of a cluster copy their data as this account, which has no password: the system's user mysql is let in.
  lines.push('CREATE USER mysql@localhost IDENTIFIED VIA unix_socket;')
  lines.push('GRANT RELOAD, PROCESS, LOCK TABLES, BINLOG MONITOR ON *.* TO mysql@localhost;')
  return `${lines.join('\n')}\n`
}

/**
 * The file `.env` of a container: processes read it in their working directory.
 *
 * @param {string} folder
 * @param {string} user
 * @param {string | undefined} host
 */
async function writeDatabaseUrls(folder, user, host) {
  const secret = await password(user)
  const lines = Object.entries(DATABASES).map(
    ([name, database]) => `${name}=mariadb://${user}:${secret}@${host}/${database}`
  )
  write(`${folder}/.env`, `${lines.join('\n')}\n`, USERS.service)
}

const inside = await authority('inside')
await writeTls('data-service', inside, ['data-service-1', 'data-service-2'])
// The name by which data services know a gateway (GRPC_TLS_GATEWAY_NAME).
await writeTls('gateway', inside, ['gateway'])

const signingKey = await kept('signing-key.pem', () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
)
write('data-service/signing-key.pem', signingKey, USERS.service)
await writeDatabaseUrls('data-service/1', 'store', databaseHosts[0])
await writeDatabaseUrls('data-service/2', 'store', databaseHosts[1])
await writeDatabaseUrls('migrations', 'migrations', databaseHosts[0])
// Earlier versions put it where data services could read it.
rmSync(join(ROOT, 'data-service/migrations'), { recursive: true, force: true })

write('database/root-password', await password('root'), USERS.mariadb)
write('database/store.sql', await initStatements(), USERS.mariadb)

const outside = await authority('public')
const brought = readFileSync('/certificate.pem', 'utf8')
const host = publicUrl.hostname.replace(/^\[(.*)\]$/, '$1')
const { cert, key } = await issue(outside, [...new Set([host, 'localhost', '127.0.0.1'])])
write('balancer/public.pem', brought === '' ? `${cert}\n${key}` : brought, USERS.haproxy)
write('balancer/ca.pem', outside.cert, USERS.haproxy)
