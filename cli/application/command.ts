import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../../shared/settings.js'

/** Where a command runs: in a process of its own (main.ts), or in that of a test. */
export interface Surroundings {
  readonly environment: Environment
  /** The working directory, absolute. Relative paths begin there, and `.env` is read there. */
  readonly directory: string
  /** Opens standard input, which most commands leave alone. */
  readonly stdin: () => Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable
  readonly stderr: Writable
}

/** What a command of `uniform-rest` is given. */
export interface CommandLine extends Surroundings {
  /** The arguments after the name of the command, without `--app`. */
  readonly args: readonly string[]
  /** The folder of the application, absolute, from `--app`; the working directory without it. */
  readonly folder: string
}

/** Answers the exit code. */
export type Command = (line: CommandLine) => Promise<number>

/** A reason to stop that a person can act on: it is shown without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** Runs `parse` and returns its result. Throws a Failure with the message of its error and the usage of the command. */
export function withUsage<T>(usage: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : String(error)}\n${usage}`, { cause: error })
  }
}

/** Control, format and other characters that are no text, and separators of lines: a terminal might obey them. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** With `\u{...}` in place of each character that is not printable. */
export function printable(value: string): string {
  return value.replace(UNPRINTABLE, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
}
