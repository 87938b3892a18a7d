import type { Environment } from '../../shared/settings.js'

/** What a command of `uniform-rest` is given. */
export interface CommandLine {
  /** The arguments after the name of the command, without `--app`. */
  readonly args: readonly string[]
  /** The folder of the application, from `--app`; the working directory without it. */
  readonly folder: string
  /** The environment of this process. */
  readonly environment: Environment
}

/** Answers the exit code. */
export type Command = (line: CommandLine) => Promise<number>

/** A reason to stop that a person can act on: it is shown without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** Control, format and other characters that are no text, and separators of lines: a terminal might obey them. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** With `\u{...}` in place of each character that is not printable. */
export function printable(value: string): string {
  return value.replace(UNPRINTABLE, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
}
