import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkers } from '../../campaign/checkers/all.js'
import type { Verdict } from '../../campaign/checkers/checker.js'
import { pageOf } from '../../campaign/report/page.js'
import { newestVerdicts } from '../../campaign/report/verdict.js'
import { TOPOLOGIES } from '../../campaign/topologies.js'
import { packageRoot } from '../harness/package-root.js'

const MAIN = fileURLToPath(new URL('../../campaign/main.js', import.meta.url))
const run = promisify(execFile)

/** What a run has written of a topology, with these verdicts by title above what is kept. */
function verdict(
  topology: string,
  parts: {
    readonly began: string
    readonly seconds?: number
    readonly verdicts?: Readonly<Record<string, Partial<Verdict>>>
    /** As verdicts were before promises had titles and runs knew their commit. */
    readonly isOld?: boolean
    readonly plant?: string
  }
): object {
  const { began, seconds = 3600, verdicts = {}, isOld = false, plant } = parts
  return {
    topology,
    database: `a database of ${topology}`,
    versions: { node: 'v20.1.2', 'uniform-rest': '9.8.7', ...(isOld ? {} : { commit: '0123456789' }) },
    began,
    options: {
      seconds,
      seed: 5,
      pace: 2000,
      pairs: 0.4,
      eachFault: false,
      gateways: 2,
      faults: [],
      ...(plant === undefined ? {} : { plant })
    },
    kinds: ['SIGKILL', 'RST to the client', 'cut within COMMIT'],
    leftOut: ['a full disk: a reason.'],
    outcome: {
      exchanges: 1_234_567,
      lost: 98_765,
      injuries: {
        'SIGKILL of gateway-0': { times: 1200, hits: 1200 },
        'SIGKILL of gateway-1': { times: 1, hits: 1 },
        'RST to the client, clients to gateway-1': { times: 2, hits: 3000 }
      },
      verdicts: checkers().map(({ title, promise }) => ({
        ...(isOld ? {} : { title }),
        promise,
        tried: 1000,
        of: 'tries',
        violations: [],
        ...verdicts[title]
      })),
      recovery: [{ gateway: 0, ready: 10, read: 20, write: 1030, form: 40 }],
      findings: [],
      unforeseen: {},
      memory: { 'gateway-0': { resident: 2 ** 30, mostResident: 2 ** 31 } }
    },
    isKept: true
  }
}

describe('the page of the campaign', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'campaign-page-'))
    await mkdir(join(folder, 'docs'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** The lines of the page that is made of these verdicts, by their paths below `--out`. */
  async function published(verdicts: Readonly<Record<string, object>>): Promise<readonly string[]> {
    await write(verdicts)
    const names = TOPOLOGIES.map(({ name }) => name)
    return pageOf(await newestVerdicts(join(folder, 'out'), names), '## Notes\n').split('\n')
  }

  async function write(verdicts: Readonly<Record<string, object>>): Promise<void> {
    for (const [path, report] of Object.entries(verdicts)) {
      const file = join(folder, 'out', path, 'verdict.json')
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, JSON.stringify(report))
    }
  }

  /** Runs the command that publishes. */
  const publish = (): Promise<unknown> =>
    run(process.execPath, [MAIN, '--publish', '--out', join(folder, 'out')], { cwd: folder })

  it('begins with what was tried and lost, of the newest run of each topology, wherever it is', async () => {
    const lines = await published({
      sqlite: verdict('sqlite', { began: '2030-01-01T10:00:00.000Z', isOld: true }),
      'later/sqlite': verdict('sqlite', { began: '2030-01-02T10:00:00.000Z', isOld: true }),
      'planted/sqlite': verdict('sqlite', { began: '2030-01-03T10:00:00.000Z', plant: 'short-key-hash' }),
      'far/too/far/down/sqlite': verdict('sqlite', { began: '2030-01-04T10:00:00.000Z' }),
      'on/mysql/mysql': verdict('mysql', { began: '2030-01-01T11:00:00.000Z', seconds: 5400 }),
      galera: { topology: 'galera', notTried: 'it takes root.' }
    })
    expect(lines.slice(0, 2)).to.deep.equal([
      '# Reliability',
      `**On 2 topologies, in 2 h 30 min together, clients sent 2,469,134 requests while 2,406 faults were injected. “Created once”, “Imported once”, “Delivered in order”, “One chain of versions” and “Stock and money add up” were put to the test 10,000 times: lost 0, doubled 0.** All of the ${checkers().length} promises below were tried on each topology, and none was broken; every gateway recovered, and no process ended by itself.`
    ])
    const at = lines.indexOf('## What was tried')
    expect(lines.slice(at + 1, at + 12)).to.deep.equal([
      '| topology | database | began (UTC) | tried for | requests | without an answer | faults | seed | version | all kept |',
      '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
      '| sqlite | a database of sqlite | 2030-01-02 10:00 | 1 h | 1,234,567 | 98,765 (8 %) | 1,203 | 5 | 9.8.7, commit not recorded | yes |',
      '| mysql | a database of mysql | 2030-01-01 11:00 | 1 h 30 min | 1,234,567 | 98,765 (8 %) | 1,203 | 5 | 9.8.7, commit 0123456789 | yes |',
      '',
      '- mariadb was not tried: it was not asked for.',
      '- mariadb-snapshot was not tried: it was not asked for.',
      '- mariadb-newest was not tried: it was not asked for.',
      '- mariadb-newest-snapshot was not tried: it was not asked for.',
      '- galera was not tried: it takes root.',
      ''
    ])
    for (const { title, promise, how, contract } of checkers()) {
      const anchor = contract.toLowerCase().replace('. ', '-').replaceAll(' ', '-')
      expect(lines).to.include(
        `| **${title}.** ${promise} [Contract, ${contract}](spec/contract.md#${anchor}) | ${how} | tries | 2,000 | 0 | 1,000 | 1,000 |`
      )
    }
    expect(lines).to.include.members([
      '| SIGKILL | 1,201 / 1,201 | 1,201 / 1,201 |',
      '| RST to the client | 2 / 3,000 | 2 / 3,000 |',
      '| cut within COMMIT | 0 / 0 | 0 / 0 |',
      '| gateway-0 | 10 | 20 | 1,030 | 40 |',
      '| gateway-0 | 1,024 | 2,048 | – |',
      '- a full disk: a reason.'
    ])
  })

  it('says first what was not kept', async () => {
    const broken = {
      'Created once': { violations: [{ what: 'The row of c-10 is gone, says c-2.', exchanges: ['c-1', 'c-2'] }] },
      'Fresh reads': { tried: 0 }
    }
    const lines = await published({
      galera: verdict('galera', { began: '2030-01-01T10:00:00.000Z', verdicts: broken })
    })
    expect(lines[1]).to.equal(
      '**On 1 topology, in 1 h together, clients sent 1,234,567 requests while 1,203 faults were injected. “Created once”, “Imported once”, “Delivered in order”, “One chain of versions” and “Stock and money add up” were put to the test 5,000 times: 1 lost or doubled.** **Not kept:** “Created once” was broken 1 time on [galera](#galera) and “Fresh reads” was not tried on galera.'
    )
    expect(lines).to.include('- The row of c-10 is gone, says c-2. (c-1)')
    expect(lines.filter((line) => line.startsWith('| **Created once.**')).join()).to.match(
      /\| \*\*1\*\* \| 1,000, \*\*1 broken\*\* \|$/
    )
  })

  it('keeps notes, and is what the repository has, but for the figures', async () => {
    const notes = '## Notes\n- Of somebody.\n'
    await writeFile(join(folder, 'docs/reliability.md'), `# Before\n\n${notes}`)
    await write({ sqlite: verdict('sqlite', { began: '2030-01-01T10:00:00.000Z' }) })
    await publish()
    const lines = (await readFile(join(folder, 'docs/reliability.md'), 'utf8')).split('\n')
    expect(lines.join('\n').endsWith(`\n${notes}`)).to.equal(true)
    // Lines of tables, lists of a run and headings of topologies and of faults depend on what was tried.
    const fixed = (all: readonly string[]): readonly string[] =>
      all
        .filter((line) => /^(?:## |[A-Z`])/.test(line))
        .filter((line) => !/^(?:Broken|Findings|Logged|Left)/.test(line))
    const here = await readFile(join(packageRoot, 'docs/reliability.md'), 'utf8')
    const text = fixed(lines.slice(2, lines.indexOf('## Faults')))
    expect(text).to.have.length.above(8)
    expect(fixed(here.split('\n'))).to.include.members([...text])
  })

  it('is not written without a verdict', async () => {
    await mkdir(join(folder, 'out'))
    expect(String(await publish().catch((error: unknown) => error))).to.match(
      /There is no verdict of a run below .*--out names/
    )
  })
})
