import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { packageRoot } from '../harness/package-root.js'
import { freePort } from '../runner/free-port.js'
import { EmptyFolder } from './empty-folder.js'

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
    await folder.run(process.execPath, [RELEASE, 'pack'])
    const bill = JSON.parse(readFileSync(join(RELEASED, 'sbom.cdx.json'), 'utf8')) as {
      readonly bomFormat: string
      readonly components: readonly { readonly name: string }[]
    } // CycloneDX
    expect(bill.bomFormat).to.equal('CycloneDX')
    expect(bill.components.map(({ name }) => name)).to.include.members(['fastify', 'mysql2'])
    expect(existsSync(join(RELEASED, 'uniform-rest/dist/cli/main.js'))).to.equal(true)
    expect(readFileSync(join(RELEASED, 'uniform-rest/dist/cli/main.js'), 'utf8')).to.not.include('// ')
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
    expect(await done(process.execPath, [RELEASE, 'publish', '--registry', url])).to.include(
      `uniform-rest ${version}: the registry has it already`
    )
    const staged = join(RELEASED, 'uniform-rest/package.json')
    const manifest = readFileSync(staged, 'utf8')
    writeFileSync(staged, manifest.replace(`"version": "${version}"`, '"version": "0.0.1"'))
    const stale = await folder.end(folder.start(process.execPath, [RELEASE, 'publish', '--registry', url], { env }))
    expect([stale.code, stale.stdout]).to.deep.equal([1, ''])
    expect(stale.stderr).to.include(`holds 0.0.1, and uniform-rest is at ${version}. Run \`npm run release -- pack\``)
    writeFileSync(staged, manifest)
    await done('npx', ['--yes', 'uniform-rest', 'init', 'my-app'])
    await done('npm', ['install', '--no-audit', '--no-fund'], 'my-app')
    expect(await done('npm', ['run', 'check'], 'my-app')).to.include('1 entity, no mistakes.')
  })
})
