import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../harness/package-root.js'
import { type Stack, startStack } from '../stack/stack.js'
import { answersTo, type RecordedAnswer, type RecordedRequest } from './recorded-answers.js'

const FIXTURES = join(packageRoot, 'test/fixtures')
const run = promisify(execFile)

for (const name of readdirSync(FIXTURES).filter((one) => one.startsWith('app-'))) {
  describe(`the application that an earlier version left, ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'earlier-'))
    const modules = join(folder, 'node_modules')
    let stack: Stack

    before(async () => {
      cpSync(join(FIXTURES, name), folder, { recursive: true })
      mkdirSync(modules)
      // As npm would install them; the package is that of this checkout.
      symlinkSync(packageRoot, join(modules, 'uniform-rest'))
      for (const one of ['@types', 'chai', 'mocha']) {
        symlinkSync(join(packageRoot, 'node_modules', one), join(modules, one))
      }
      stack = await startStack({ app: folder, database: { url: `sqlite:${join(folder, 'database.sqlite')}` } })
    })
    after(async () => {
      await stack?.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    it('compiles', async () => {
      const compiler = join(packageRoot, 'node_modules/typescript/bin/tsc')
      const { stdout } = await run(process.execPath, [compiler, '--pretty', 'false'], { cwd: folder }).catch(
        (error: unknown) => error as { readonly stdout: string } // with the code 1 or 2
      )
      expect(stdout).to.equal('')
    })

    it('has its migrations behind it', () => {
      const own = readdirSync(join(folder, 'migrations')).map((file) => file.replace(/\.ts$/, ''))
      const started = stack.logs().map((entry) => (entry as { readonly migration?: unknown }).migration)
      expect(own).to.have.length.at.least(3)
      expect(started.filter((one) => own.includes(String(one)))).to.deep.equal([])
    })

    it('answers as it did', async () => {
      const recorded = JSON.parse(readFileSync(join(folder, 'recorded.json'), 'utf8')) as readonly {
        readonly request: RecordedRequest
        readonly answer: RecordedAnswer
      }[] // ours
      const answers = await answersTo(
        stack,
        recorded.map(({ request }) => request)
      )
      expect(recorded).to.have.length.at.least(40)
      for (const [index, { request, answer }] of recorded.entries()) {
        const now = answers[index]
        const title = `${request.method} ${request.path} as ${request.as ?? 'nobody'}`
        expect({ status: now?.status, body: withoutAdded(now?.body, answer.body) }, title).to.deep.equal({
          status: answer.status,
          body: answer.body
        })
        // A later version may add headers.
        expect(now?.headers, title).to.include(answer.headers)
      }
    })
  })
}

/**
 * The body of an answer without what later versions of the contract add to problems: `errors` where there is one fault, and
 * the rule of each.
 */
function withoutAdded(now: unknown, recorded: unknown): unknown {
  if (!isProblem(now) || !isProblem(recorded)) return now
  const { errors = [], ...problem } = now
  if (recorded.errors === undefined) {
    expect(errors.length).to.be.at.most(1)
    return problem
  }
  return {
    ...problem,
    errors: errors.map((one) => Object.fromEntries(Object.entries(one).filter(([name]) => PLACED.includes(name))))
  }
}

const PLACED = ['code', 'detail', 'parameter', 'pointer', 'header']

interface RecordedProblem {
  readonly requestId: string
  readonly errors?: readonly object[]
}

function isProblem(body: unknown): body is RecordedProblem {
  return typeof body === 'object' && body !== null && 'requestId' in body && 'code' in body
}
