import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

// Debian keeps servers where an ordinary user's PATH does not look.
const USUAL = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']

/** The path of a program; undefined where there is none. */
export function findProgram(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...USUAL]
  return folders.map((folder) => join(folder, program)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
