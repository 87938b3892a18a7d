import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Failure, runCommand } from './failure.mjs'
import { projectRoot } from './project-root.mjs'

const INTERVAL_MS = 50

// `node tools/first-answer.mjs` prints how long it takes from `git clone` to the first answer of `npm start`. In a checkout
// in which nothing was installed yet it starts there, so that what it installs and compiles serves the tests after it;
// otherwise in the clone.
await runCommand(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'first-answer-'))
  try {
    const clone = join(folder, 'clone')
    const began = performance.now()
    const isNew = ['node_modules', 'dist'].every((name) => !existsSync(join(projectRoot, name)))
    const isCloned = await cloneTo(clone)
    if (!isCloned && !isNew) throw new Failure('There is no clone to start in: see above.')
    const cloned = performance.now()
    const answered = await firstAnswer(isNew ? projectRoot : clone, join(folder, 'data'))
    const [whole, clones] = [answered - began, cloned - began].map((ms) => (ms / 1000).toFixed(1))
    const how = isCloned ? `after git clone, which took ${clones} s of it` : 'after npm start; git clone failed'
    process.stdout.write(`first answer ${whole} s ${how}\n`)
    return 0
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})

/**
 * Whether it could clone. A checkout without history, or of another user, cannot be cloned, and can be started.
 *
 * @param {string} clone
 */
async function cloneTo(clone) {
  const git = spawn('git', ['clone', '--quiet', projectRoot, clone], { stdio: ['ignore', 'inherit', 'inherit'] })
  return end(git).then(
    () => true,
    () => false
  )
}

/**
 * Runs `npm start` in a checkout until it has answered a read, and ends it. What it prints goes to stderr. Resolves with
 * the moment of the answer, in milliseconds of performance.now().
 *
 * @param {string} checkout
 * @param {string} dataDir
 */
async function firstAnswer(checkout, dataDir) {
  const [http, grpc] = [await freePort(), await freePort()]
  const start = spawn('npm', ['start'], {
    cwd: checkout,
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      GATEWAY_PORT: String(http),
      DATA_SERVICE_ADDRESS: `127.0.0.1:${grpc}`,
      LOG_LEVEL: 'warn'
    },
    stdio: ['ignore', process.stderr, process.stderr]
  })
  const ended = end(start)
  const url = `http://127.0.0.1:${http}/products/paged?pageSize=1`
  while (!(await isAnswered(url))) {
    await Promise.race([pause(INTERVAL_MS), ended])
    if (start.exitCode !== null) throw new Failure('`npm start` ended before its first answer: see above.')
  }
  const answered = performance.now()
  start.kill('SIGINT')
  await ended
  return answered
}

/** @param {string} url */
async function isAnswered(url) {
  try {
    const { status } = await fetch(url)
    return status === 200
  } catch {
    return false
  }
}

/**
 * Rejects unless the program ends with 0.
 *
 * @param {import('node:child_process').ChildProcess} child
 */
async function end(child) {
  await once(child, 'close')
  const { exitCode, signalCode, spawnargs } = child
  if (exitCode !== 0) throw new Failure(`${spawnargs.join(' ')} ended with ${signalCode ?? exitCode}.`)
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Failure('No port is free.')
  return address.port
}
