import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { listFile } from '../schema/introspect/entity-file.js'
import type { Introspected } from '../schema/introspect/record.js'
import { CONFIG_NAMES, type LoadedApplication } from './application/application.js'
import { type CommandLine, printable } from './application/command.js'

/** Writes lines to standard output, with paths as they are from the working directory. */
export class Screen {
  readonly #line: CommandLine

  constructor(line: CommandLine) {
    this.#line = line
  }

  /** Names in a database may hold what a terminal obeys. */
  print(text: string): void {
    this.#line.stdout.write(`${text.split('\n').map(printable).join('\n')}\n`)
  }

  path(file: string): string {
    return relative(this.#line.directory, file)
  }
}

/** Writes files, and never over one that a person has changed. */
export class FileWriter {
  readonly isTyped: boolean
  readonly #screen: Screen
  readonly #root: string
  readonly #isDry: boolean
  readonly #written: Record<string, string>
  #files = 0

  constructor(of: {
    readonly loaded: LoadedApplication
    readonly screen: Screen
    readonly isDry: boolean
    readonly written: Readonly<Record<string, string>>
  }) {
    this.#root = of.loaded.folder
    this.#screen = of.screen
    this.#isDry = of.isDry
    this.#written = { ...of.written }
    this.isTyped = !CONFIG_NAMES.some((name) => /\.m?js$/.test(name) && existsSync(join(this.#root, name)))
  }

  get extension(): string {
    return this.isTyped ? 'ts' : 'js'
  }

  /** A file that belongs to people from then on. */
  async once(file: string, text: string): Promise<void> {
    if (existsSync(file)) {
      this.#screen.print(`${this.#screen.path(file)} is there already, and stays as it is.`)
      return
    }
    this.#files += 1
    this.#written[relative(this.#root, file)] = hashOf(text)
    await this.write(file, text, this.#files <= FILES_SHOWN)
  }

  /** Whether the file is there as an earlier run wrote it. */
  async isOurs(file: string): Promise<boolean> {
    return existsSync(file) && hashOf(await readFile(file, 'utf8')) === this.#written[relative(this.#root, file)]
  }

  /** A file that is written anew by each run until somebody changes it, or for as long as there is no reason to keep it. */
  async again(file: string, text: string, kept?: string): Promise<void> {
    const name = relative(this.#root, file)
    const there = existsSync(file) ? await readFile(file, 'utf8') : undefined
    if (there === text) {
      // Also where a run ended before it wrote the record, or the record is gone.
      this.#written[name] = hashOf(text)
      return
    }
    const isOurs = there === undefined || hashOf(there) === this.#written[name] || there === listFile([], this.isTyped)
    if (!isOurs || kept !== undefined) {
      this.#tellOnce(file, { text, kept })
      return
    }
    this.#written[name] = hashOf(text)
    await this.write(file, text)
  }

  /** What would be written, and only where it is not what the last run told. */
  #tellOnce(file: string, { text, kept }: { readonly text: string; readonly kept: string | undefined }): void {
    const path = this.#screen.path(file)
    const told = `${relative(this.#root, file)} would be`
    if (this.#written[told] === hashOf(text)) return
    this.#written[told] = hashOf(text)
    if (kept === undefined)
      this.#screen.print(`${path} was changed by hand and stays as it is. It would be:\n\n${text}`)
    else this.#screen.print(`${path} stays as it is: ${kept}.`)
  }

  async state(file: string, state: Omit<Introspected, 'written'>): Promise<void> {
    if (this.#isDry) return
    await mkdir(dirname(file), { recursive: true })
    await writeFile(`${file}.tmp`, `${JSON.stringify({ ...state, written: this.#written }, null, 2)}\n`)
    await rename(`${file}.tmp`, file)
  }

  /** Says how many files were written beside those that were named. */
  summary(): void {
    const more = this.#files - FILES_SHOWN
    if (more > 0) this.#screen.print(`${this.#isDry ? 'Would write' : 'Wrote'} ${more} more`)
  }

  /** Whatever is there. */
  async write(file: string, text: string, isTold = true): Promise<void> {
    if (isTold) this.#screen.print(`${this.#isDry ? 'Would write' : 'Wrote'} ${this.#screen.path(file)}`)
    if (this.#isDry) return
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** So many files are named. */
const FILES_SHOWN = 40
