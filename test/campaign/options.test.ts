import { mkdtemp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readOptions } from '../../campaign/options.js'
import { takeFolder } from '../../campaign/out-folder.js'
import { plantNamed } from '../../campaign/plants/plants.js'

/** Of no process: larger than any number that Linux gives one. */
const NO_PROCESS = 2 ** 22 + 1

describe('what the campaign is told', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'options-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('says in a sentence which topology, fault or folder it does not know', async () => {
    expect(() => readOptions(['--topology', 'oracle'])).to.throw(/^--topology oracle is none of sqlite, mariadb,/)
    expect(() => plantNamed('oak')).to.throw(/^--plant oak is none of key-without-caller,/)
    const missing = join(folder, 'nothing')
    expect(() => readOptions(['--replay', missing])).to.throw(`--replay ${missing} has no verdict.json of a run.`)
    await writeFile(join(folder, 'verdict.json'), JSON.stringify({ topology: 'mysql', notTried: 'it is missing.' }))
    expect(() => readOptions(['--replay', folder])).to.throw(`--replay ${folder} has no verdict.json of a run.`)
  })

  it('names the folders of topologies where the one above them is meant to be replayed', async () => {
    const sqlite = join(folder, 'sqlite')
    await mkdir(sqlite)
    await writeFile(join(sqlite, 'verdict.json'), '{}')
    expect(() => readOptions(['--replay', folder])).to.throw(`Name the folder of a topology: ${sqlite}.`)
  })

  it('replays the topology and the options of an earlier run', async () => {
    const options = {
      seconds: 2,
      seed: 200,
      pace: 100,
      pairs: 0.5,
      gateways: 3,
      services: 1,
      eachFault: true,
      faults: ['slow'],
      plant: 'short-key-hash'
    }
    await writeFile(join(folder, 'verdict.json'), JSON.stringify({ topology: 'mysql', options }))
    const read = readOptions(['--replay', folder, '--out', 'elsewhere'])
    expect(read).to.deep.include({ ...options, out: 'elsewhere' })
    expect(read.topologies.map(({ name }) => name)).to.deep.equal(['mysql'])
  })

  it('judges and publishes nothing of before together with a run', () => {
    expect(() => readOptions(['--plants', '--check', folder])).to.throw(
      '--plants takes --plant and --seed alone, and no --check.'
    )
    expect(() => readOptions(['--publish', '--topology', 'sqlite'])).to.throw(
      '--publish runs nothing and takes no --topology'
    )
  })

  it('takes a folder for one run at a time, without what an earlier run has left', async () => {
    for (const name of ['verdict.json', 'rows.json', 'history.jsonl', 'notes.txt'])
      await writeFile(join(folder, name), '{}')
    const giveBack = await takeFolder(folder)
    expect((await readdir(folder)).toSorted()).to.deep.equal(['notes.txt', 'running.pid'])
    await giveBack()
    expect(await readdir(folder)).to.deep.equal(['notes.txt'])
  })

  it('waits for the end of another run in the same folder, and for none that is no more', async () => {
    await writeFile(join(folder, 'running.pid'), String(process.ppid))
    const taken = await takeFolder(folder).catch(String)
    expect(taken).to.include(`Another campaign, process ${process.ppid}, writes ${folder}. Wait for its end,`)
    await writeFile(join(folder, 'running.pid'), String(NO_PROCESS))
    await (
      await takeFolder(folder)
    )()
    // Nobody makes folders there, root neither.
    expect(await takeFolder('/sys/campaign').catch(String)).to.match(
      /We may not write the folder \/sys\/campaign \(E\w+\): --out names another/
    )
  })
})
