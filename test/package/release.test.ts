import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { packageRoot } from '../harness/package-root.js'
import { freePort } from '../runner/free-port.js'
import { EmptyFolder, signalGroup } from './empty-folder.js'
import { brokenLinks } from './new-application.js'

const RELEASE = join(packageRoot, 'tools/release.mjs')
const RELEASED = join(packageRoot, 'dist-release')

/** One package of npm serves others. It needs a version of node-fetch that npm's registry knows by the tag `cjs`. */
const REGISTRY = { private: true, dependencies: { verdaccio: '6.1.6' }, overrides: { 'node-fetch': '2.6.7' } }

/** All but our own packages come from the registry that this machine uses. */
const settings = (folder: string, others: string): string => `storage: ${folder}/storage
auth: { htpasswd: { file: ${folder}/htpasswd } }
uplinks: { others: { url: '${others}' } }
packages:
  '@uniform-rest/*': { access: $all, publish: $all }
  uniform-rest: { access: $all, publish: $all }
  '**': { access: $all, proxy: others }
max_body_size: 50mb
log: { type: stdout, level: warn }
`

// test/package/linked.test.ts has the package as the sources pack it.
describe('a release', function () {
  this.timeout(900_000)
  let folder: EmptyFolder
  let registry: ChildProcess
  let url: string

  before(async () => {
    folder = await EmptyFolder.make()
    writeFileSync(join(folder.path, 'package.json'), JSON.stringify(REGISTRY))
    await folder.run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'])
    const { stdout } = await folder.run('npm', ['config', 'get', 'registry'])
    writeFileSync(join(folder.path, 'registry.yaml'), settings(folder.path, stdout.trim()))
    const port = await freePort()
    url = `http://127.0.0.1:${port}/`
    const program = join(folder.path, 'node_modules/verdaccio/bin/verdaccio')
    registry = spawn(
      process.execPath,
      [program, '--config', join(folder.path, 'registry.yaml'), '--listen', `127.0.0.1:${port}`],
      {
        stdio: 'ignore'
      }
    )
    while (
      !(await fetch(`${url}-/ping`).then(
        ({ ok }) => ok,
        () => false
      ))
    ) {
      if (registry.exitCode !== null) throw new Error(`The registry ended with ${registry.exitCode}`)
      await pause(50)
    }
  })
  after(async () => {
    registry?.kill()
    await folder?.[Symbol.asyncDispose]()
  })

  it('is packed without comments, and with what it is made of', async () => {
    const { stdout } = await folder.run(process.execPath, [RELEASE, 'pack'])
    const sizes = new Map(
      Array.from(stdout.matchAll(/^(\S+) [\d.]+: (\d+) bytes packed/gm), ([, name, bytes]) => [name, Number(bytes)])
    )
    expect([...sizes.keys()]).to.have.members([
      'uniform-rest',
      '@uniform-rest/client',
      '@uniform-rest/react-admin',
      '@uniform-rest/pages'
    ])
    expect(sizes.get('uniform-rest'), 'bytes of the file').to.be.lessThan(1_200_000)
    expect(sizes.get('@uniform-rest/pages'), 'bytes of the file').to.be.lessThan(800_000)
    const bill = JSON.parse(readFileSync(join(RELEASED, 'sbom.cdx.json'), 'utf8')) as {
      readonly bomFormat: string
      readonly components: readonly { readonly name: string }[]
    } // CycloneDX
    expect(bill.bomFormat).to.equal('CycloneDX')
    expect(bill.components.map(({ name }) => name)).to.include.members(['fastify', 'mysql2'])
    expect(existsSync(join(RELEASED, 'uniform-rest/dist/cli/main.js'))).to.equal(true)
    expect(readFileSync(join(RELEASED, 'uniform-rest/dist/cli/main.js'), 'utf8')).to.not.include('// ')
  })

  it('holds the documentation of users, whose links and whose names in the code lead to what it holds', () => {
    const root = join(RELEASED, 'uniform-rest')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    const pages = files.filter((path) => path.endsWith('.md') && !path.startsWith('cli/'))
    expect(pages).to.include.members(['README.md', 'docs/README.md', 'docs/errors.md', 'docs/spec/contract.md'])
    expect(pages.filter((path) => path.startsWith('docs/decisions'))).to.deep.equal([])
    expect(brokenLinks(root, pages)).to.deep.equal([])
    const texts = files.filter((path) => path.endsWith('.js') || (path.startsWith('cli/') && /\.\w+$/.test(path)))
    const named = texts.flatMap(
      (path) => readFileSync(join(root, path), 'utf8').match(/docs\/[\w/-]+\.(?:md|json)/g) ?? []
    )
    expect(named).to.include('docs/settings.md')
    expect(named.filter((path) => !existsSync(join(root, path)))).to.deep.equal([])
  })

  it('is published into a registry, from which npx makes an application', async () => {
    const { host } = new URL(url)
    // Whoever publishes has signed in; this registry takes it from anybody.
    const env = { npm_config_registry: url, [`npm_config_//${host}/:_authToken`]: 'anybody' }
    const done = async (program: string, args: readonly string[], where = ''): Promise<string> => {
      const ended = await folder.end(folder.start(program, args, { env, in: where }))
      expect(ended.code, `${args.join(' ')}: ${ended.stdout}${ended.stderr}`).to.equal(0)
      return ended.stdout
    }
    await done(process.execPath, [RELEASE, 'publish', '--registry', url])
    const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
      readonly version: string
    } // ours
    const publish = async () =>
      folder.end(folder.start(process.execPath, [RELEASE, 'publish', '--registry', url], { env }))
    const again = await publish()
    expect([again.code, again.stdout.match(/: the registry has it already$/gm)?.length]).to.deep.equal([1, 4])
    expect(again.stderr).to.include('Nothing was published: no version can be published twice.')
    const record = join(RELEASED, 'packed-from.txt')
    const sources = readFileSync(record, 'utf8')
    writeFileSync(record, sources.replace(/^./, 'x'))
    const changed = await publish()
    writeFileSync(record, sources)
    expect([changed.code, changed.stdout]).to.deep.equal([1, ''])
    expect(changed.stderr).to.include(
      'The sources are not those that were packed. Run `npm run release -- pack` first.'
    )
    const staged = join(RELEASED, 'uniform-rest/package.json')
    const manifest = readFileSync(staged, 'utf8')
    writeFileSync(staged, manifest.replace(`"version": "${version}"`, '"version": "0.0.1"'))
    const stale = await publish()
    expect([stale.code, stale.stdout]).to.deep.equal([1, ''])
    expect(stale.stderr).to.include(`holds 0.0.1, and uniform-rest is at ${version}. Run \`npm run release -- pack\``)
    writeFileSync(staged, manifest)
    await done('npx', ['--yes', 'uniform-rest', 'init', 'my-app'])
    await done('npm', ['install', '--no-audit', '--no-fund'], 'my-app')
    expect(await done('npm', ['run', 'check'], 'my-app')).to.include('1 entity, no mistakes.')
    // The published code is another text than that of the build.
    expect(await done('npm', ['test'], 'my-app')).to.match(/\d+ passing/)
    await servesPages()
  })

  it('has a version, a section of the changelog and a tag, and is tagged only when it is committed', async () => {
    const clone = await throwawayClone(folder)
    const who = {
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_EMAIL: 'a@b.example',
      GIT_COMMITTER_NAME: 'A',
      GIT_COMMITTER_EMAIL: 'a@b.example'
    }
    const run = async (program: string, ...args: string[]) =>
      folder.end(folder.start(program, args, { in: 'clone', env: who }))
    const release = async (...args: string[]) => run(process.execPath, 'tools/release.mjs', ...args)
    const refused = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await release(...args)
      expect([code, stdout], args.join(' ')).to.deep.equal([1, ''])
      return stderr
    }
    const { code, stderr } = await release('version', '99.98.97')
    expect(code, stderr).to.equal(0)
    const { stdout: changed } = await run('git', 'diff', '--name-only')
    expect(changed.trim().split('\n')).to.have.members([
      'CHANGELOG.md',
      'README.md',
      ...['pages', 'react-admin', 'typescript'].map((name) => `clients/${name}/package.json`),
      ...['clients', 'versions', 'your-own-application'].map((name) => `docs/${name}.md`),
      'package-lock.json',
      'package.json'
    ])
    const left = await run(
      'git',
      'grep',
      '-nE',
      '(uniform-rest[a-z/-]*[" :]+|uniform-rest[a-z-]*-)0\\.4\\.0',
      '--',
      '*.json',
      'README.md'
    )
    expect(left.stdout, 'the version of before').to.equal('')
    expect(await refused('publish', '--registry', url)).to.include(
      'holds nothing, and @uniform-rest/client is at 99.98.97.'
    )
    expect(await refused('tag')).to.include('Commit the release first.')
    await run('git', 'commit', '--quiet', '--all', '--message', 'release: 99.98.97')
    expect((await release('tag')).code).to.equal(0)
    const { stdout: notes } = await run('git', 'tag', '--list', '--format=%(contents)', 'v99.98.97')
    expect(notes).to.match(/^## \[99\.98\.97\] - \d{4}-\d\d-\d\d\nContract \d/)
    expect(await refused('tag')).to.include('already exists')
    expect(readFileSync(join(clone, 'CHANGELOG.md'), 'utf8')).to.match(/^## \[Unreleased\]\n\n## \[99\.98\.97\] - /m)
  })

  /** Starts the application as its README says, and asks for what the package of the pages holds. */
  async function servesPages(): Promise<void> {
    const [gateway, dataService] = [await freePort(), await freePort()]
    const env = { GATEWAY_PORT: String(gateway), DATA_SERVICE_ADDRESS: `127.0.0.1:${dataService}` }
    const running = folder.start('npm', ['start'], { in: 'my-app', env, ownGroup: true })
    const ended = once(running, 'close')
    let log = ''
    for (const stream of [running.stdout, running.stderr])
      stream?.on('data', (chunk: Buffer) => (log += chunk.toString()))
    try {
      while (!log.includes('Ctrl-C ends everything.')) {
        if (running.exitCode !== null) throw new Error(`npm start ended:\n${log}`)
        await pause(50)
      }
      for (const path of ['/admin/', '/docs/try']) {
        expect((await fetch(`http://127.0.0.1:${gateway}${path}`)).status, path).to.equal(200)
      }
    } finally {
      if (running.exitCode === null && running.signalCode === null) signalGroup(running, 'SIGINT')
      await ended
    }
  }
})

/** A clone of the last commit, with what was installed and built here. The packages are links that are never written to. */
async function throwawayClone(folder: EmptyFolder): Promise<string> {
  await folder.run('git', ['clone', '--quiet', packageRoot, 'clone'])
  const clone = join(folder.path, 'clone')
  const built = ['shared/gen', 'dist', ...['pages', 'react-admin', 'typescript'].map((name) => `clients/${name}/dist`)]
  for (const path of built) cpSync(join(packageRoot, path), join(clone, path), { recursive: true })
  mkdirSync(join(clone, 'node_modules'))
  for (const name of readdirSync(join(packageRoot, 'node_modules'))) {
    // Its time says that all is installed: an own one, which nobody removes the packages for.
    if (name === '.package-lock.json')
      cpSync(join(packageRoot, 'node_modules', name), join(clone, 'node_modules', name))
    else symlinkSync(join(packageRoot, 'node_modules', name), join(clone, 'node_modules', name))
  }
  return clone
}
