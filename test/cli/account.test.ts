import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { type AccountConsole, parseAccountArguments, parseClaims } from '../../cli/account.js'
import { type Account, accountKey } from '../../data-service/auth/accounts/accounts.js'
import {
  AccountAdministration,
  checkClaims,
  knownRoles,
  parseOwner,
  parseOwners
} from '../../data-service/auth/administration.js'
import { AuthHarness, rejectionOf } from '../data-service/auth/auth-harness.js'

const messageOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'nothing is wrong'
}

describe('the arguments of account', () => {
  it('name a command, an e-mail address and what else the command takes', () => {
    const parsed = (...args: string[]) => parseAccountArguments(args).request
    expect(parsed('disable', 'a@x')).to.deep.include({ email: 'a@x', rest: [] })
    expect(parsed('roles', 'a@x', 'A', 'B')).to.deep.include({ email: 'a@x', rest: ['A', 'B'] })
    expect(parsed('claims', 'a@x', '--none')).to.deep.include({ email: 'a@x', rest: [] })
    expect(parsed('owner', 'a@x', '--', '-5')).to.deep.include({ email: 'a@x', rest: ['-5'] })
    expect({ ...parsed('add', '--role', 'A', 'a@x', '--role=B', '--owner=-5').options }).to.deep.equal({
      role: ['A', 'B'],
      owner: ['-5']
    })
    expect(parsed('list', '--json').options).to.include({ json: true })
  })

  for (const args of [[], ['help'], ['--help'], ['-h']]) {
    it(`${JSON.stringify(args)} ask for help`, () => {
      expect(parseAccountArguments(args).run).to.equal(undefined)
    })
  }

  for (const args of [
    ['ad'],
    ['constructor'],
    ['add'],
    ['add', 'a@x', 'b@x'],
    ['add', 'a@x', '--rol', 'A'],
    ['add', 'a@x', '--owner'],
    ['list', 'a@x'],
    ['disable'],
    ['disable', 'a@x', 'b@x'],
    ['disable', 'a@x', '--none'],
    ['roles', 'a@x'],
    ['roles', 'a@x', 'A', '--none'],
    ['claims', 'a@x'],
    ['owner', 'a@x']
  ]) {
    it(`${JSON.stringify(args)} are answered with the usage`, () => {
      expect(messageOf(() => parseAccountArguments(args))).to.include('Usage: uniform-rest account')
    })
  }
})

describe('the claims of an account', () => {
  it('are texts, or JSON after :=', () => {
    expect(parseClaims(['a=1', 'b:=1', 'c=x=y', 'd=', 'e:=["x"]', 'https://x.example/f=g', 'h:=null'])).to.deep.equal({
      a: '1',
      b: 1,
      c: 'x=y',
      d: '',
      e: ['x'],
      'https://x.example/f': 'g',
      h: null
    })
  })

  for (const [args, says] of [
    [['a'], 'A claim is <name>=<value>'],
    [['=x'], 'A claim is <name>=<value>'],
    [[':=1'], 'A claim is <name>=<value>'],
    [['a=1', 'a:=2'], 'a is given twice'],
    [['a:=x'], 'a is no JSON'],
    [['a:='], 'a is no JSON'],
    [[`a:=${'['.repeat(20_000)}${']'.repeat(20_000)}`], 'a is longer than 1024 bytes of JSON'],
    [[`a:="${'é'.repeat(512)}"`], 'a is longer than 1024 bytes of JSON']
  ] as const) {
    it(`${JSON.stringify(args).slice(0, 80)} cannot be read`, () => {
      expect(messageOf(() => parseClaims(args))).to.include(says)
    })
  }

  const RESERVED = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'sid', 'name', 'role', 'roles', 'permissions']
  for (const name of RESERVED) {
    it(`cannot be named ${name}`, () => {
      expect(messageOf(() => checkClaims({ [name]: 'x' }, 'customer_id'))).to.include(`The claim ${name} is one that`)
    })
  }

  it('cannot be the owner claim, whatever that is', () => {
    expect(messageOf(() => checkClaims({ customer_id: 1 }, 'customer_id'))).to.include('--owner')
    expect(messageOf(() => checkClaims({ customer_id: 1 }, 'tenant'))).to.equal('nothing is wrong')
    const kinds = { patient: 'patient_id' }
    for (const patient of ['7x', 1.5, null, true]) {
      const message = messageOf(() => checkClaims({ patient_id: patient }, 'customer_id', kinds))
      expect(message, String(patient)).to.include('--owner patient=<number>')
    }
    expect(messageOf(() => checkClaims({ patient_id: '7' }, 'customer_id', kinds))).to.equal('nothing is wrong')
  })

  it('takes owners of several kinds', () => {
    const kinds = { patient: 'patient_id', practitioner: 'practitioner_id' }
    expect(parseOwners(['42', 'patient=7', 'practitioner=9007199254740993'], kinds)).to.deep.equal({
      owner: 42n,
      claims: { patient_id: 7, practitioner_id: '9007199254740993' }
    })
    for (const wrong of [['nurse=1'], ['patient='], ['patient=1', 'patient=2'], ['1', '2'], ['patient=1=2'], ['=1']]) {
      expect(
        messageOf(() => parseOwners(wrong, kinds)),
        wrong.join()
      ).to.not.equal('nothing is wrong')
    }
  })

  for (const [claims, says] of [
    [{ '': 1 }, 'cannot be a claim'],
    [{ '1a': 1 }, 'cannot be a claim'],
    [{ 'a b': 1 }, 'cannot be a claim'],
    [parseClaims(['__proto__=x']), 'cannot be a claim'],
    [{ ['a'.repeat(129)]: 1 }, 'cannot be a claim'],
    [{ a: 2 ** 53 }, 'beyond 2^53'],
    [{ a: { b: [-(2 ** 53)] } }, 'beyond 2^53'],
    [parseClaims(['a:=1e999']), 'beyond 2^53'],
    [{ a: 'x\0' }, 'U+0000'],
    [{ a: [{ '\uD800': 1 }] }, 'half a surrogate pair']
  ] as const) {
    it(`cannot be ${JSON.stringify(claims)}`, () => {
      expect(messageOf(() => checkClaims(claims, 'customer_id'))).to.include(says)
    })
  }
})

describe('the roles and the owner of an account', () => {
  it('are roles of the application in its own spelling, each once', () => {
    expect(knownRoles(['CLERK', 'admin', 'clerk'], ['Admin', 'Clerk'])).to.deep.equal(['Clerk', 'Admin'])
  })

  it('are no others', () => {
    expect(messageOf(() => knownRoles(['Clark'], ['Admin', 'Clerk']))).to.equal(
      'There is no role "Clark". Did you mean "Clerk"? The roles are Admin, Clerk.'
    )
    expect(messageOf(() => knownRoles(['x'], []))).to.equal('There is no role "x". The application has no roles.')
    expect(messageOf(() => knownRoles(['r'.repeat(65)], ['r'.repeat(65)]))).to.include('at most 64')
  })

  it('are a whole number of 64 bits', () => {
    expect(parseOwner('-9223372036854775808')).to.equal(-(2n ** 63n))
    for (const text of ['', 'x', '1.5', '+1', '9223372036854775808']) {
      expect(
        messageOf(() => parseOwner(text)),
        text
      ).to.include('whole number of 64 bits')
    }
  })
})

describe('a command of account', () => {
  let harness: AuthHarness
  let accounts: AccountAdministration
  before(async () => {
    harness = await AuthHarness.over('sqlite')
    const { store, passwords, now, randomBytes } = harness.replica().by
    const signal = new AbortController().signal
    accounts = new AccountAdministration({
      store,
      passwords,
      roles: ['Admin', 'Clerk'],
      ownerClaimType: 'customer_id',
      now,
      randomBytes,
      signal
    })
  })
  after(() => harness[Symbol.asyncDispose]())

  const runOn = async (input: AccountConsole['input'], ...args: string[]) => {
    const { run, request } = parseAccountArguments(args)
    const [output, questions] = [new PassThrough(), new PassThrough()]
    let asked = ''
    questions.setEncoding('utf8').on('data', (chunk: string) => {
      asked += chunk
      const line = chunk.endsWith(': ') ? typed.get(input)?.shift() : undefined
      if (line !== undefined && input instanceof PassThrough) input.write(line)
    })
    const failure: unknown = await run?.({ accounts, input, output, questions }, request).then(
      () => undefined,
      (error: unknown) => error
    )
    output.end()
    questions.end()
    return { output: await text(output), questions: asked, failure }
  }
  const typed = new Map<AccountConsole['input'], string[]>()
  /** A terminal at which somebody types these lines, each when it is asked for. */
  const terminal = (...lines: string[]): AccountConsole['input'] => {
    const input = Object.assign(new PassThrough(), { isTTY: true })
    typed.set(input, lines)
    return input
  }
  const hashOf = async (email: string) => (await accounts.find(email))?.passwordHash

  it('asks a terminal for the password twice, and shows nothing of it', async () => {
    const { output, questions, failure } = await runOn(
      terminal('typed password\r', 'typed password\r'),
      'add',
      'tty@example.com'
    )
    expect(failure).to.equal(undefined)
    expect(output).to.include('Added tty@example.com')
    expect(questions).to.include('Password: ').and.include('Again: ')
    expect(output + questions).to.not.include('typed')
    expect(await hashOf('tty@example.com')).to.equal('hash of typed%20password')
  })

  it('changes nothing when the two differ, or when it is interrupted', async () => {
    const hash = await hashOf('kim@example.com')
    const differing = await runOn(terminal('one password\r', 'another one\r'), 'set-password', 'kim@example.com')
    expect(differing.failure).to.have.property('message', 'The two differ: nothing was changed.')
    const interrupted = await runOn(terminal('one pass\u0003'), 'set-password', 'kim@example.com')
    expect(interrupted.failure).to.have.property('message', 'Cancelled: nothing was changed.')
    expect(await hashOf('kim@example.com')).to.equal(hash)
  })

  it('takes the first line of other input, as it is', async () => {
    for (const [input, hash] of [
      ['  with blanks \r\nmore\n', '%20%20with%20blanks%20'],
      ['no line break', 'no%20line%20break'],
      ['\uFEFFmarked as UTF-8\r\n', 'marked%20as%20UTF-8']
    ] as const) {
      for (const chunks of [[Buffer.from(input)], Array.from(Buffer.from(input), (byte) => Buffer.from([byte]))]) {
        const { failure } = await runOn(Readable.from(chunks), 'set-password', 'kim@example.com')
        expect(failure, input).to.equal(undefined)
        expect(await hashOf('kim@example.com')).to.equal(`hash of ${hash}`)
      }
    }
    const none = await runOn(Readable.from([]), 'set-password', 'kim@example.com')
    expect(none.failure).to.have.property('message').which.includes('A password is needed')
  })

  it('takes no password that is not UTF-8, or holds what stands for such bytes', async () => {
    const hash = await hashOf('kim@example.com')
    for (const [input, says] of [
      [Buffer.from([...Buffer.from('password'), 0xff]), 'is not UTF-8'],
      [Buffer.from('\uFEFFpassword\n', 'utf16le'), 'is not UTF-8'],
      [Buffer.from('password\uFFFD\n'), 'U+FFFD']
    ] as const) {
      const { failure } = await runOn(Readable.from([input]), 'set-password', 'kim@example.com')
      expect(failure, says).to.have.property('name', 'AccountMistake')
      expect(failure).to.have.property('message').which.includes(says)
      expect(await hashOf('kim@example.com')).to.equal(hash)
    }
  })

  it('asks for no password before the rest is right', async () => {
    for (const args of [
      ['add', 'kim@example.com'],
      ['add', 'x@example.com', '--role', 'Boss'],
      ['add', 'no address'],
      ['set-password', 'x@example.com']
    ]) {
      const { failure, questions } = await runOn(terminal(), ...args)
      expect(failure, args.join(' ')).to.have.property('name', 'AccountMistake')
      expect(questions, args.join(' ')).to.equal('')
    }
  })

  it('makes an account without a password that nobody can log in to', async () => {
    await runOn(Readable.from(['']), 'add', 'outside@example.com', '--no-password')
    expect(await hashOf('outside@example.com')).to.equal(null)
    for (const password of ['null', 'right', 'decoy']) {
      const rejection = await rejectionOf(harness.replica().login({ email: 'outside@example.com', password }))
      expect(rejection, password).to.include({ code: 'auth.invalid-credentials' })
    }
    expect((await runOn(Readable.from(['']), 'list')).output).to.match(/outside@example\.com .*no password/)
  })

  it('takes no address with characters that cannot be seen', async () => {
    for (const email of ['x\u202e@example.com', 'x@\u200bexample.com', 'x\u0007@example.com', 'x\ud800@example.com']) {
      const { failure } = await runOn(Readable.from(['']), 'add', email, '--no-password')
      expect(failure, JSON.stringify(email)).to.have.property('message').which.includes('An e-mail address such as')
    }
  })

  it('prints nothing that a terminal might obey, whatever is stored', async () => {
    const email = 'x\u202e\u009b@example.com'
    const name = '\u001b[2JEve\n\u{e0001}'
    await harness.replica().by.store.transaction(new AbortController().signal, (unit) =>
      unit.insertAccount({
        email,
        emailKey: accountKey(email),
        name,
        roles: [],
        owner: null,
        claims: { note: 'a\u2028b' },
        passwordHash: null,
        isSample: false,
        createdAt: 0
      })
    )
    const { output } = await runOn(Readable.from(['']), 'list')
    expect(output).to.match(
      /^x\\u\{202e\}\\u\{9b\}@example\.com {2}\\u\{1b\}\[2JEve\\u\{a\}\\u\{e0001\}, .*a\\u\{2028\}b/m
    )
    const asJson = (await runOn(Readable.from(['']), 'list', '--json')).output
    for (const text of [output, asJson]) expect(text.replaceAll('\n', '')).to.match(/^[^\p{C}\p{Zl}\p{Zp}]*$/u)
    const listed = JSON.parse(asJson) as readonly Account[]
    expect(listed.find((one) => one.email === email)).to.deep.include({ name, claims: { note: 'a\u2028b' } })
    // The commands that name an account say what is stored, too.
    expect((await runOn(Readable.from(['']), 'enable', email)).output).to.equal(
      'x\\u{202e}\\u{9b}@example.com was not disabled.\n'
    )
  })

  it('keeps roles and claims to what a cookie holds', async () => {
    const wide: Account = {
      email: 'wide@example.com',
      name: 'W',
      roles: [],
      owner: null,
      claims: { a: 'x'.repeat(1011) }
    }
    expect(JSON.stringify([wide.roles, wide.claims])).to.have.length(1024)
    await accounts.checkNew(wide)
    const wider = { ...wide, claims: { a: 'x'.repeat(1012) } }
    expect(await accounts.checkNew(wider).catch((error: unknown) => error)).to.have.property(
      'message',
      'Roles and claims are 1025 bytes of JSON. At most 1024 fit the access token, which browsers keep as a cookie.'
    )
    // Those that an account gets later too.
    await accounts.add(wide, undefined)
    for (const [change, bytes] of [
      [() => accounts.setRoles(wide.email, ['clerk']), 1031],
      [() => accounts.setClaims(wide.email, wider.claims), 1025]
    ] as const) {
      const mistake: unknown = await change().catch((error: unknown) => error)
      expect(mistake).to.be.an('error').with.property('message').that.includes(`are ${bytes} bytes of JSON.`)
    }
    expect(await accounts.get(wide.email)).to.deep.include({ roles: [], claims: wide.claims })
  })

  // The last: the list is as wide as its longest address.
  it('names an account after its address, as far as a name is long', async () => {
    for (const [local, name] of [
      ['l'.repeat(230), 'l'.repeat(200)],
      [`${'l'.repeat(199)}🙂`, 'l'.repeat(199)]
    ] as const) {
      const { failure } = await runOn(Readable.from([]), 'add', `${local}@example.com`, '--no-password')
      expect(failure).to.equal(undefined)
      expect(await accounts.find(`${local}@example.com`)).to.have.property('name', name)
    }
  })
})
