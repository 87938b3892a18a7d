import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { init } from '../../cli/init.js'
import { runCommand } from '../harness/command.js'

/** A new application itself is tested where the package is installed: test/package. */
describe('uniform-rest init', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'init-')))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const rejected = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCommand(['init', ...args])
    expect([code, stdout]).to.deep.equal([1, ''])
    return stderr
  }

  it('wants the name of a folder, not an empty one', async () => {
    for (const args of [[], [''], ['--no-example']]) expect(await rejected(...args)).to.include('Name the folder')
    expect(await rejected(join(folder, 'app'), '--empty')).to.include("Unknown option '--empty'")
    expect(await rejected(join(folder, 'app'), 'b')).to.include('init does not know "b"')
    expect(await rejected(join(folder, 'app'), '--database', 'oracle')).to.include('sqlite or mariadb, not "oracle"')
    expect(await rejected(join(folder, 'app'), '--owner', 'a b')).to.include('a word such as member, not "a b"')
    expect(await readdir(folder)).to.deep.equal([])
  })

  it('makes an application without the example, which has no file of it', async () => {
    const app = join(folder, 'app')
    const { code, stdout } = await runCommand(['init', 'app', '--no-example'], { directory: folder })
    expect(code).to.equal(0)
    expect(stdout).to.include('app holds a new application without an entity.').and.include('\n  cd app\n')
    const files = await readdir(app, { recursive: true })
    expect(files).to.include.members(['uniform-rest.config.ts', 'test/every-entity.test.ts', 'README.md', '.gitignore'])
    expect(files.filter((name) => /tasks|^bare|^entities|^migrations/.test(name))).to.deep.equal([])
    for (const name of files.filter((one) => /\.(?:md|ts|json|yml)$/.test(one))) {
      expect(await readFile(join(app, name), 'utf8'), name).to.not.match(/\btasks\b|my-app/)
    }
    expect(await readFile(join(app, 'uniform-rest.config.ts'), 'utf8')).to.include("APPLICATION_NAME: 'app'")
  })

  it('makes an application with no secret of its own, no account root, and no entity that is public', async () => {
    expect((await runCommand(['init', 'app'], { directory: folder })).code).to.equal(0)
    const read = (name: string): Promise<string> => readFile(join(folder, 'app', name), 'utf8')
    const compose = await read('docker-compose.yml')
    expect(compose).to.not.match(/\$\{\w+:-|\broot:|\bMARIADB_ROOT_PASSWORD/)
    expect(compose.match(/GATEWAY_SECRET: .*/g)).to.deep.equal(
      Array<string>(2).fill('GATEWAY_SECRET: ${GATEWAY_SECRET:?set it in .env}')
    )
    // The service has the account that may not change tables.
    expect(await read('database/accounts.sh')).to.include("GRANT SELECT, INSERT, UPDATE, DELETE ON app.* TO 'app'@'%';")
    expect(compose.match(/DATABASE_URL: mariadb:\/\/\w+:/g)).to.deep.equal(
      ['migrator', 'app'].map((account) => `DATABASE_URL: mariadb://${account}:`)
    )
    expect(await read('entities/tasks.ts')).to.not.include('everyone')
    expect(await read('uniform-rest.config.ts'))
      .to.include("APPLICATION_NAME: 'app'")
      .and.include('STRICT_HANDLING')
    expect(await read('Dockerfile')).to.include('RUN npm ci ')
  })

  it('makes secrets of its own in a file that git ignores and others cannot read', async () => {
    const passwords = new Set<string>()
    for (const [name, database] of [
      ['one', 'sqlite'],
      ['two', 'mariadb']
    ] as const) {
      const made = await runCommand(['init', name, '--database', database, '--owner', 'member'], { directory: folder })
      expect(made.code, made.stderr).to.equal(0)
      const file = join(folder, name, '.env')
      expect((await stat(file)).mode & 0o777).to.equal(0o600)
      const secrets = Array.from(
        (await readFile(file, 'utf8')).matchAll(/^(\w+)=([0-9a-f]{64})$/gm),
        ([, of = '', is = '']) => {
          passwords.add(is)
          return of
        }
      )
      expect(secrets).to.deep.equal(['GATEWAY_SECRET', 'MARIADB_PASSWORD', 'MARIADB_MIGRATION_PASSWORD'])
      const url = /^DATABASE_URL=mariadb:\/\/migrator:([0-9a-f]{64})@/m.exec(await readFile(file, 'utf8'))?.[1]
      expect(url !== undefined && passwords.has(url), database).to.equal(database === 'mariadb')
      expect(await readFile(join(folder, name, '.gitignore'), 'utf8')).to.match(/^\.env$/m)
      expect(await readFile(join(folder, name, 'uniform-rest.config.ts'), 'utf8')).to.include(
        "owners: { member: 'member_id' },"
      )
    }
    expect(passwords.size).to.equal(6)
  })

  it('asks a terminal for what no flag says', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true })
    const output = new PassThrough()
    output.on('data', (asked: Buffer) => {
      const answers = { Database: 'mariadb', 'Who owns': 'member', 'Files for': 'none' }
      const [, answer] = Object.entries(answers).find(([question]) => asked.toString().startsWith(question)) ?? []
      if (answer !== undefined) input.write(`${answer}\n`)
    })
    const surroundings = {
      environment: {},
      directory: folder,
      folder,
      stdin: () => input,
      stdout: output,
      stderr: output
    }
    expect(await init({ ...surroundings, args: ['asked'] })).to.equal(0)
    expect(await readFile(join(folder, 'asked/.env'), 'utf8')).to.match(/^DATABASE_URL=mariadb/m)
    expect(await readFile(join(folder, 'asked/uniform-rest.config.ts'), 'utf8')).to.include(
      "owners: { member: 'member_id' }"
    )
    const made = await readdir(join(folder, 'asked'))
    expect(made.filter((name) => /docker|^database$/i.test(name))).to.deep.equal([])
    const withFlags = ['told', '--database', 'sqlite', '--owner', '', '--deployment', 'compose']
    const unread = (): never => expect.fail('Standard input is not opened where the flags say all.')
    expect(await init({ ...surroundings, args: withFlags, stdin: unread })).to.equal(0)
    expect(await readdir(join(folder, 'told'))).to.include.members(['Dockerfile', 'docker-compose.yml', 'database'])
  })

  it('leaves out of its pages and settings what it has no files of', async () => {
    for (const [name, ...more] of [['app'], ['bare', '--no-example']] as const) {
      const made = async (deployment: string, database: string): Promise<(name: string) => Promise<string>> => {
        const into = `${name}-${deployment}-${database}`
        const args = ['init', into, ...more, '--deployment', deployment, '--database', database]
        expect((await runCommand(args, { directory: folder })).code).to.equal(0)
        for (const one of await readdir(join(folder, into), { recursive: true, withFileTypes: true })) {
          if (!one.isFile()) continue
          const text = await readFile(join(one.parentPath, one.name), 'utf8')
          expect(text, one.name).to.not.match(/\{\{(?:compose|none|end)\}\}/)
          if (deployment === 'none') expect(text, one.name).to.not.match(/docker|`database\/`|MIGRATION_PASSWORD/i)
        }
        return (file) => readFile(join(folder, into, file), 'utf8')
      }
      const composed = await made('compose', 'mariadb')
      expect(await composed('README.md')).to.include('| `docker-compose.yml`, `Dockerfile`, `database/` |')
      const alone = await made('none', 'mariadb')
      // No start takes it for an address before the person has written one.
      expect(await alone('.env')).to.match(/^DATABASE_URL=mariadb:\/\/<account>:<password>@<host>:3306\/app$/m)
      expect(await (await made('none', 'sqlite'))('.env')).to.match(/^#DATABASE_URL=/m)
    }
  })

  it('overwrites nothing, and takes no name that npm would not', async () => {
    const taken = join(folder, 'taken')
    await mkdir(taken)
    await writeFile(join(taken, 'notes.txt'), 'Mine.')
    expect(await rejected(taken)).to.include('is not empty')
    expect(await rejected(join(folder, 'My App'))).to.include('lower-case')
    expect(await readdir(folder, { recursive: true })).to.have.members(['taken', 'taken/notes.txt'])
  })

  it('says why a folder cannot be written', async () => {
    const [file, link, loop] = [join(folder, 'file'), join(folder, 'link'), join(folder, 'loop')]
    await writeFile(file, '')
    await symlink(join(folder, 'nothing'), link)
    await symlink(loop, loop)
    expect(await rejected(file)).to.include(`${file} is a file`)
    expect(await rejected(link)).to.include(`${link} is a symbolic link to nothing`)
    expect(await rejected(join(link, 'app'))).to.include(`cannot be made in ${link}/app: `)
    expect(await rejected(loop)).to.include(`cannot be made in ${loop}: ELOOP`)
    expect(await readdir(folder)).to.have.members(['file', 'link', 'loop'])
  })
})
