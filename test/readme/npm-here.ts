import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { runCommand } from '../harness/command.js'
import { outputRoot, packageRoot } from '../harness/package-root.js'

/** A program `npm` whose `npm run -s <script> -- <argument>…` runs the store's command in this process. */
export interface NpmHere {
  /** The PATH in which it is found first. */
  readonly path: string
  stop(): Promise<void>
}

/**
 * Starts it, for commands with this environment: each npm and its process of the command take two seconds of a processor.
 * The first `real` calls are those of npm itself.
 */
export async function startNpm(environment: NodeJS.ProcessEnv, { real = 0 } = {}): Promise<NpmHere> {
  const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  } // ours
  const run = async (words: readonly string[]): Promise<{ readonly status: number; readonly said: string }> => {
    const [, silent = '', name = '', , ...args] = words
    if (!['-s', '--silent'].includes(silent) || scripts[name] !== `node tools/store.mjs ${name}`)
      return { status: 500, said: `npm ${words.join(' ')}: package.json runs something else.` }
    const env = Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => !!entry[1]))
    const command = [name, ...args, '--app', join(outputRoot, 'examples/store')]
    const { code, stdout, stderr } = await runCommand(command, { env })
    return { status: code === 0 ? 200 : 500, said: stdout + stderr }
  }
  const server = createServer((request, response) => {
    void text(request)
      .then((lines) => run(lines.split('\n')))
      .catch((error: unknown) => ({ status: 500, said: String(error) }))
      .then(({ status, said }) => response.writeHead(status).end(said))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // of a TCP server that listens
  const folder = mkdtempSync(join(tmpdir(), 'npm-'))
  const PATH = process.env['PATH'] ?? ''
  const program = [
    '#!/bin/sh',
    `calls=$(cat ${folder}/calls)`,
    `echo $((calls + 1)) > ${folder}/calls`,
    `[ "$calls" -ge ${real} ] || PATH='${PATH}' exec npm "$@"`,
    `exec curl -s --fail-with-body --data-binary "$(printf '%s\\n' "$@")" http://127.0.0.1:${port}/`
  ]
  writeFileSync(join(folder, 'calls'), '0')
  writeFileSync(join(folder, 'npm'), `${program.join('\n')}\n`)
  chmodSync(join(folder, 'npm'), 0o755)
  return {
    path: `${folder}:${PATH}`,
    stop: async () => {
      rmSync(folder, { recursive: true })
      server.close()
      await once(server, 'close')
    }
  }
}
