import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { accepts } from '../harness/local-server.js'
import { packageRoot } from '../harness/package-root.js'
import { freePort } from '../runner/free-port.js'

/** The secret of the link in a mail. */
export function tokenIn(mail: string): string {
  return /#token=([\w-]{43})$/m.exec(mail)?.[1] ?? expect.fail(mail)
}

/** The mail server of docs/one-time-links.md, with the settings of that page that lead to it. */
export class MailServer {
  readonly settings: Readonly<Record<string, string>>
  readonly #process: ChildProcessByStdio<null, Readable, null>
  readonly #folder: string
  #printed = ''

  private constructor(settings: MailServer['settings'], folder: string, file: string) {
    this.settings = settings
    this.#folder = folder
    this.#process = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#process.stdout.on('data', (chunk: Buffer) => (this.#printed += chunk.toString('utf8')))
  }

  static async start(): Promise<MailServer> {
    const port = await freePort()
    const page = readFileSync(join(packageRoot, 'docs/one-time-links.md'), 'utf8').replaceAll('2525', String(port))
    const [, script = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? []
    const folder = mkdtempSync(join(tmpdir(), 'mails-'))
    const file = join(folder, 'mail.mjs')
    writeFileSync(file, script)
    const settings = Object.fromEntries(
      Array.from(page.matchAll(/^export (\w+)=(.*)$/gm), ([, name = '', value = '']) => [name, value] as const)
    )
    const server = new MailServer(settings, folder, file)
    while (!(await accepts(`127.0.0.1:${port}`))) {
      server.#checkRuns()
      await pause(20)
    }
    return server
  }

  #checkRuns(): void {
    const { exitCode, signalCode } = this.#process
    if (exitCode !== null || signalCode !== null) expect.fail('the mail server has ended')
  }

  /** The next mail to an address, whose recipient no other mail in the output has before it. */
  async to(email: string): Promise<string> {
    for (;;) {
      this.#checkRuns()
      const mail = this.#mails(email)[0]
      if (mail !== undefined) {
        this.#printed = this.#printed.replace(mail, '')
        return mail
      }
      await pause(20)
    }
  }

  /** How many mails to an address nobody has looked at. */
  waiting(email: string): number {
    return this.#mails(email).length
  }

  #mails(email: string): string[] {
    const mails = this.#printed.split(/^(?=Auto-Submitted: )/m)
    return mails.filter((one) => one.includes(`\nTo: ${email}\n`) && one.endsWith('then.\n'))
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit')
    if (this.#process.kill()) await ended
    rmSync(this.#folder, { recursive: true })
  }
}
