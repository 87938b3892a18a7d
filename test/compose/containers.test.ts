import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Authority } from '../harness/certificates.js'
import { packagesInstalledFor } from '../harness/installed-packages.js'
import { packageRoot } from '../harness/package-root.js'
import { COMMANDS, Deployment, say, textOf, withoutTerminal } from './deployment.js'
import { docker } from './engine.js'
import { Load } from './load.js'
import type { ComposeAnswer, ComposeProject } from './project.js'

const MAX_IMAGE_BYTES = 200_000_000
/** Those that may be doubled, and are. */
const GATEWAYS = ['gateway-1', 'gateway-2'] as const
const DATA_SERVICES = ['data-service-1', 'data-service-2'] as const
/** Of docs/deploying.md, what galera.test.ts executes. */
const ELSEWHERE = 'Three database nodes'

describe('the containers', function () {
  this.timeout(900_000)
  const deployment = new Deployment()
  let project: ComposeProject
  let token = ''
  const authorization = (): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` })

  before(async () => {
    await deployment.start('Start', { name: 'uniform-rest-test', files: ['docker-compose.yml'] })
    project = deployment.project
    token = await deployment.logIn()
  })
  after(async () => {
    await deployment.stop()
    const left = [...COMMANDS].flatMap(([heading, commands]) => (heading === ELSEWHERE ? [] : commands))
    expect(
      left.filter((command) => !deployment.executed.has(command)),
      'not executed'
    ).to.deep.equal([])
  })

  it('are told in a file without a password', () => {
    for (const file of ['docker-compose.yml', 'docker-compose.galera.yml']) {
      const secrets = /^ *(?:- )?\w*(?:PASSWORD|SECRET|TOKEN)\w*\s*[:=]\s*(\S.*)$/gim
      const values = Array.from(textOf(file).matchAll(secrets), ([, value = '']) => value)
      expect(values.filter((value) => !value.startsWith('/'))).to.deep.equal([])
      expect(textOf(file)).to.not.match(/dockerfile_inline|:\/\/[^/\s]*:[^/\s]*@/)
    }
  })

  it('have a small image, with production dependencies alone, that runs as nobody in particular', async () => {
    const [size = '', user = ''] = (
      await docker(deployment.engine, 'image', 'inspect', '--format', '{{.Size}} {{.Config.User}}', 'uniform-rest')
    ).split(' ')
    expect(Number(size)).to.be.lessThan(MAX_IMAGE_BYTES)
    expect(user).to.equal('65532:65532')
    for (const service of [...GATEWAYS, ...DATA_SERVICES, 'shop']) {
      expect(await project.script(service, 'console.log(process.getuid())'), service).to.equal('65532')
    }
    const printed = []
    for (const command of deployment.documented('The image')) printed.push(await project.shell(command))
    expect(printed.at(-1)).to.match(/^uniform-rest \d/)
    const installed = JSON.parse(
      await project.script(
        'gateway-1',
        `import { readdirSync } from 'node:fs'
         const list = (at) => readdirSync(at).flatMap((name) => name.startsWith('.') ? [] :
           name.startsWith('@') ? list(at + '/' + name).map((one) => name + '/' + one) : [name])
         console.log(JSON.stringify(list('/app/node_modules')))`
      )
    ) as readonly string[]
    const { dependencies, peerDependencies } = JSON.parse(textOf('package.json')) as {
      readonly dependencies: Readonly<Record<string, string>>
      readonly peerDependencies: Readonly<Record<string, string>>
    }
    // The build makes the pages.
    const { chai, mocha, '@uniform-rest/pages': pages, ...optional } = peerDependencies
    expect([chai, mocha, pages], 'of tests, and ours').to.not.include(undefined)
    const expected = packagesInstalledFor(Object.keys({ ...dependencies, ...optional }))
    expect(installed).to.include.members(['fastify', '@azure/storage-blob', 'openid-client'])
    expect(installed.filter((name) => !expected.has(`node_modules/${name}`))).to.deep.equal(['@uniform-rest/pages'])
    // One script of each page is read.
    const pagesRead = await project.script(
      'gateway-1',
      `import { readdirSync } from 'node:fs'
       console.log(['admin', 'try-out'].map((name) => readdirSync('/app/node_modules/@uniform-rest/pages/dist/' + name)
         .filter((file) => file.endsWith('.js.br')).length).join())`
    )
    expect(pagesRead).to.equal('1,1')
    const tryOut = `console.log(await fetch('http://127.0.0.1:3000/docs/try').then(({ status }) => status))`
    expect(await project.script('gateway-1', tryOut)).to.equal('200')
  })

  it('have the labels of a release where its command builds the image', async () => {
    const { version } = JSON.parse(textOf('package.json')) as { readonly version: string } // ours
    const source = 'https://git.example/uniform-rest'
    const { engine } = deployment
    const args = [join(packageRoot, 'tools/release.mjs'), 'images', '--repository', source]
    await promisify(execFile)(process.execPath, args, { env: engine.env, maxBuffer: 2 ** 26 })
    const name = `uniform-rest:${version}`
    const labels = JSON.parse(
      await docker(engine, 'image', 'inspect', '--format', '{{json .Config.Labels}}', name)
    ) as Readonly<Record<string, string>> // Docker's
    const labelled = (label: string): string | undefined => labels[`org.opencontainers.image.${label}`]
    expect(['version', 'title', 'licenses', 'source'].map(labelled)).to.deep.equal([
      version,
      'uniform-rest',
      'MIT',
      source
    ])
    expect(labelled('revision')).to.match(/^[0-9a-f]{40}$/)
    expect(labelled('created')).to.match(/^\d{4}-\d\d-\d\dT/)
    expect(await docker(engine, 'run', '--rm', name, '--version')).to.include(`uniform-rest ${version}`)
    await docker(engine, 'rmi', name)
  })

  it('tell their health', async () => {
    for (const service of [...GATEWAYS, ...DATA_SERVICES, 'shop', 'database']) {
      await project.eventually(
        `${service} is healthy`,
        40_000,
        async () => (await project.inspect(service, '{{.State.Health.Status}}')) === 'healthy'
      )
    }
  })

  it('publish the port of the balancer alone', async () => {
    for (const service of [...GATEWAYS, ...DATA_SERVICES, 'shop', 'database']) {
      expect(await project.inspect(service, '{{json .HostConfig.PortBindings}}'), service).to.be.oneOf(['{}', 'null'])
    }
  })

  it('let nobody into a data service without a certificate', async () => {
    const dial = (files: string): Promise<string> =>
      project.script(
        'gateway-1',
        `import { readFileSync } from 'node:fs'
         import { connect } from 'node:tls'
         const read = (name) => readFileSync('/run/keys/' + name)
         const socket = connect({ host: 'data-service-1', port: 50051, ALPNProtocols: ['h2'], ca: read('ca.pem'), ${files} })
         socket.on('error', (error) => { console.log(error.code); process.exit() })
         socket.on('data', () => { console.log('answers'); process.exit() })
         socket.on('end', () => { console.log('ends'); process.exit() })`
      )
    expect(await dial('')).to.match(/^ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED$|^ends$|^ECONNRESET$/)
    expect(await dial("cert: read('tls.pem'), key: read('tls.key')")).to.equal('answers')
  })

  it('keep the password of the account that may change tables from the data services', async () => {
    const read = await project.script(
      'data-service-1',
      `import { readdirSync, readFileSync } from 'node:fs'
       const files = readdirSync('/run/keys', { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
       console.log(files.map((one) => readFileSync(one.parentPath + '/' + one.name, 'utf8')).join('\\n'))`
    )
    expect(read).to.include('mariadb://store:').and.to.not.include('migrations')
  })

  it('pass on heads that a gateway takes, and those that it rejects', async () => {
    const long = await project.send(`/products/7?x=${'a'.repeat(40_000)}`)
    expect(long.status, long.text.slice(0, 200)).to.equal(200)
    const tooLong = await project.send(`/products/7?x=${'a'.repeat(80_000)}`)
    expect([tooLong.status, tooLong.headers['content-type']]).to.deep.equal([414, 'application/problem+json'])
  })

  it('read, create, replay, update under guard and export', async () => {
    const page = await project.send('/products/paged?pageSize=2&sortColumn=id&fields=id,name')
    expect([page.status, page.headers['x-total-count']]).to.deep.equal([200, '2000'])
    expect(String(page.headers['link'])).to.include(`<${project.url}/products/paged?`)

    const body = { name: 'Reading Lamp', sku: 'LAMP-1', categoryId: 4, price: '49.90' }
    const create = (): Promise<ComposeAnswer> => {
      const headers = { ...authorization(), 'idempotency-key': 'reading-lamp' }
      return project.send('/products', { method: 'POST', headers, body })
    }
    const created = await create()
    expect(created.status, created.text).to.equal(201)
    const again = await create()
    expect([again.status, again.headers['idempotent-replayed'], again.text]).to.deep.equal([201, 'true', created.text])

    const path = String(created.headers['location']).slice(project.url.length)
    const update = (price: string): Promise<ComposeAnswer> => {
      const headers = { ...authorization(), 'if-match': String(created.headers['etag']) }
      return project.send(path, { method: 'PUT', headers, body: { ...body, price, isActive: true } })
    }
    expect((await update('44.90')).status).to.equal(200)
    expect((await update('39.90')).status).to.equal(412)
    expect(JSON.parse((await project.send(path)).text)).to.include({ price: '44.90' })

    const file = await project.send(
      '/products/export?fields=id,sku&filters[sku].operator=eq&filters[sku].value=LAMP-1&bom=false'
    )
    expect(file.text.trim().split(/\r?\n/)).to.deep.equal(['id,sku', `${path.split('/').at(-1)},LAMP-1`])
  })

  it('take the tokens of either data service at the other', async () => {
    // Calls take turns between the data services.
    for (let n = 0; n < 10; n++) {
      expect((await project.send('/audit-entries/paged?pageSize=1', { headers: authorization() })).status).to.equal(200)
    }
  })

  it('have a session of a browser over TLS', async () => {
    const { set, cookies } = await deployment.session()
    for (const cookie of set)
      expect(cookie)
        .to.match(/; Secure/)
        .and.to.match(/; HttpOnly/)
    const page = await project.send('/products/7', { headers: { accept: 'text/html', cookie: cookies } })
    expect(page.status, page.text).to.equal(200)
    expect(page.text).to.match(/Hello, <b[^>]*>operator</)
    expect(page.headers['strict-transport-security']).to.be.a('string')
  })

  it('share the key ring: the token of one gateway is good at the other', async () => {
    const post = (from: string, to: string): Promise<string> =>
      project.script(
        'shop',
        `const made = await fetch('http://${from}:3000/auth/antiforgery')
         const cookie = made.headers.getSetCookie().map((one) => one.split(';')[0]).join('; ')
         const { token } = await made.json()
         const send = (headers) => fetch('http://${to}:3000/no-such-page', { method: 'POST', headers: { cookie, accept: 'text/html', ...headers } })
         console.log((await send({ 'x-csrf-token': token })).status, (await send({})).status)`
      )
    expect(await post('gateway-1', 'gateway-2')).to.equal('404 403')
    expect(await post('gateway-2', 'gateway-1')).to.equal('404 403')
  })

  it('have an answer for a client when no gateway serves', async () => {
    await project.compose('stop', ...GATEWAYS)
    const answer = await project.send('/products/1')
    expect([answer.status, answer.headers['content-type'], answer.headers['retry-after']]).to.deep.equal([
      503,
      'application/problem+json',
      '1'
    ])
    expect(JSON.parse(answer.text)).to.include({ status: 503, code: 'upstream.unavailable' })
    await project.compose('start', ...GATEWAYS)
    await project.serving()
  })

  it('are told to end in turn, and replaced in turn, and no request fails', async () => {
    const load = new Load(project, { token: await deployment.logIn(), name: 'replaced' })
    for (const service of [...GATEWAYS, ...DATA_SERVICES]) await deployment.works(service)
    load.start()
    try {
      await load.more()
      for (const service of ['gateway-1', 'data-service-1']) {
        const before = performance.now()
        await project.compose('stop', '--timeout', '20', service)
        expect(await project.inspect(service, '{{.State.ExitCode}}'), service).to.equal('0')
        say(`${service} ended ${Math.round(performance.now() - before)} ms after SIGTERM`)
        await load.more()
        await project.start(service)
        await deployment.works(service)
        await load.more()
      }
      for (const command of deployment.documented('Restarts and upgrades')) {
        const [, service] = /--no-deps (\S+)$/.exec(command) ?? []
        const before = service === undefined ? '' : await project.container(service)
        // The build has changed nothing, so Compose would leave the containers.
        await project.shell(withoutTerminal(command).replace(' --no-deps ', ' --no-deps --force-recreate '))
        if (service === undefined) continue
        expect(await project.container(service), service).to.not.equal(before)
        if (service !== 'migrations') await deployment.works(service)
        await load.more()
        say(`${service} was replaced`)
      }
    } finally {
      await load.stop()
    }
    await load.expectStoredOnce()
  })

  it('are killed in turn, every acknowledged create is there once, and nothing fails after the recovery', async () => {
    await deployment.killInTurn([...GATEWAYS, ...DATA_SERVICES, 'shop', 'balancer', 'database'], 'killed')
  })

  it('take a certificate that somebody brings', async () => {
    await using authority = await Authority.create('Somebody')
    const { cert, key } = await authority.issue('127.0.0.1')
    await authority.write('public.pem', `${cert}\n${key}`)
    for (const command of deployment.documented('Addresses and certificates')) {
      await project.shell(withoutTerminal(command).replace('./public.pem', authority.path('public.pem')))
    }
    project.trust(authority.cert)
    await project.serving()
    await project.serving()
  })
})
