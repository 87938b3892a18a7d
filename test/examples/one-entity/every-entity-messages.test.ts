import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { Field } from '../../../data-service/entity/fields/field.js'
import {
  base64url,
  date,
  dateTime,
  decimal,
  guid,
  int,
  long,
  oneOf,
  text,
  timestamp,
  tinyInt
} from '../../../data-service/entity/fields/words.js'
import { storedValue } from '../../../data-service/entity/types/types.js'
import { parseId } from '../../../data-service/plan/parsing/keys.js'
import { Violations } from '../../../data-service/plan/parsing/violations.js'
import { MAX_AUTHORIZATION } from '../../../shared/transport/call-frames.js'
import { Callers } from '../../every-entity/callers.js'
import { Findings } from '../../every-entity/findings.js'
import { TestedApplication } from '../../every-entity/tested-application.js'
import { madeInput, madeValue } from '../../every-entity/made-values.js'
import { absentId } from '../../every-entity/verdict.js'
import { isSoak } from '../../harness/in-soak.js'
import { packageRoot } from '../../harness/package-root.js'
import { stored } from '../../oracle/wire-value.js'
import { TokenMint } from '../../stack/token-mint.js'
import application from './uniform-rest.config.js'

interface Report {
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message: string } }[]
}

describe('the tests of every entity', function () {
  this.timeout(120_000)

  // `npm run soak` runs the tests of an entity whose made bodies break a rule.
  if (isSoak)
    it('say what to state in `values` where made bodies do not satisfy the rules of an entity', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'messages-'))
      try {
        const report = join(folder, 'report.json')
        const options = ['--grep', 'create makes', '--reporter', 'json', '--reporter-option', `output=${report}`]
        const file = fileURLToPath(new URL('made-values.js', import.meta.url))
        const mocha = join(packageRoot, 'node_modules/mocha/bin/mocha.js')
        // It exits with the number of failures, which the report tells.
        await promisify(execFile)(process.execPath, [mocha, ...options, file]).catch((error: unknown) => error)
        const { failures } = JSON.parse(await readFile(report, 'utf8')) as Report // mocha's own format
        const [first] = failures
        expect(failures.map(({ fullTitle }) => fullTitle)).to.deep.equal([
          'every entity on sqlite tasks create makes a row of the right owner for whoever may'
        ])
        const { err } = first ?? { err: undefined }
        const actual = JSON.stringify(err)
        for (const part of [
          'create of tasks was rejected',
          'A priority is one of low, high.',
          "{ 'tasks': { create:"
        ]) {
          expect(actual).to.include(part)
        }
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })

  for (const { operation, code, told } of [
    { operation: 'create', code: 'body.invalid', told: "{ 'tasks': { create:" },
    { operation: 'delete', code: 'ownership.denied', told: "`except: { 'tasks': ['delete'] }`" }
  ] as const) {
    it(`say what to state where a rule of an entity rejects the ${operation} of a made row`, () => {
      const findings = new Findings('tasks')
      const outcome = { code, status: 403, detail: 'Not this one.', rows: [], total: undefined, text: '' }
      findings.rejected({ resource: 'tasks', operation }, outcome)
      expect(() => findings.finish())
        .to.throw()
        .with.property('message')
        .that.includes(`${operation} of tasks was rejected`)
        .and.includes('Not this one.')
        .and.includes(told)
    })
  }

  it('say of large answers where they differ first: the entity, the operation, the row and the property', () => {
    const rows = Array.from({ length: 300 }, (_, at) => ({ id: String(at + 1), title: 't', note: 'n'.repeat(5000) }))
    const other = rows.map((row) => (row.id === '17' ? { ...row, note: `${row.note.slice(1)}m` } : row))
    const findings = new Findings('tasks')
    findings.same('rows of list by nobody', other, rows)
    findings.same('rows of export by nobody', rows.slice(0, 299), rows)
    expect(() => findings.finish())
      .to.throw()
      .with.property('message')
      .that.includes('2 findings in tasks')
      .and.matches(/^- rows of list by nobody, 16 \(id 17\), note, from character \d+: n+m" instead of n+"$/m)
      .and.matches(/^- rows of export by nobody, 299 \(id 300\): nothing instead of \{"id":"300",.{0,200}…$/m)
      .and.satisfies((message: string) => message.length < 1000)
  })

  it('know a key of each type, and a short unique text, that no row has', () => {
    const fields: readonly Field[] = [
      text(2),
      int(),
      tinyInt(),
      long(),
      decimal(6, 2),
      decimal(2, 2),
      decimal(20, 0),
      guid(),
      date(),
      dateTime(),
      timestamp({ precision: 0 }),
      dateTime({ precision: 6 }),
      oneOf(['low', 'high']),
      base64url(16, 16)
    ]
    for (const field of fields) {
      const part = { name: 'part', column: 'part', field }
      for (const keyed of [{ key: [part] }, { key: [part, part] }] as const) {
        const [violations, id] = [new Violations(), absentId(keyed)]
        parseId(id, keyed, violations)
        expect(violations.isEmpty, `${field.type} ${id}`).to.equal(true)
      }
    }
  })

  it('make decimals that their columns hold on each database, however many digits these have', () => {
    for (const [precision, scale] of [
      [6, 2],
      [2, 2],
      [1, 0],
      [38, 0],
      [20, 18],
      [40, 19],
      [40, 20],
      [65, 30]
    ] as const) {
      const column = { name: 'amount', column: 'amount', field: decimal(precision, scale) }
      for (const made of [madeValue(column, 7), madeValue(column, 129), madeInput(column, 7)]) {
        const what = `decimal(${precision}, ${scale}) ${String(made)}`
        expect(() => storedValue(String(made), column), what).to.not.throw()
        expect(Number(stored('sqlite', column.field, made)), what).to.be.below(2 ** 63)
      }
    }
  })

  it('send tokens that a gateway takes, also where an application has hundreds of permissions', () => {
    const permissions = Array.from({ length: 250 }, (_, at) => `a-resource-${at}:read` as const)
    const callers = new Callers({ roles: { Admin: permissions }, ownerClaimType: 'owner', bypassRole: 'Admin' })
    const mint = new TokenMint()
    for (const { name, claims } of callers.of(permissions.slice(0, 1))) {
      const header = `Bearer ${mint.sign({ sub: name, ...claims })}`
      expect(header.length, name.slice(0, 80)).to.be.at.most(MAX_AUTHORIZATION)
    }
  })

  it('reject values and rules of what is no entity', () => {
    const folder = new URL('.', import.meta.url)
    const tested = (more: object): (() => TestedApplication) => {
      return () => new TestedApplication('sqlite', { application, folder, ...more })
    }
    expect(tested({ values: { task: {} } })).to.throw('There is no entity task.')
    expect(tested({ rules: { task: {} } })).to.throw('There are rules of task, which is no entity.')
  })
})
