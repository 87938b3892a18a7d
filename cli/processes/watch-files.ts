import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'

const WATCHED = /\.(?:[cm]?[jt]s|tsx|json)$/
const UNWATCHED = /(?:^|[/\\])(?:node_modules|\.[^/\\]*)(?:[/\\]|$)|\.d\.[cm]?ts$/
/** Milliseconds that changes are gathered for, since an editor writes several files at once. */
const GATHERED = 100

/**
 * Calls `changed` after changes of code below the folders, one call at a time, with the paths of the files. Each folder is
 * watched by itself: Node's recursive watching loses a file on Linux once an editor has put another in its place by a
 * rename.
 */
export function watchFiles(
  folders: readonly string[],
  signal: AbortSignal,
  changed: (files: readonly string[]) => Promise<void>
): void {
  let timer: NodeJS.Timeout | undefined
  let last = Promise.resolve()
  let gathered = new Set<string>()
  const report = (file: string): void => {
    gathered.add(file)
    clearTimeout(timer)
    timer = setTimeout(() => {
      const files = [...gathered]
      gathered = new Set()
      last = last.then(() => (signal.aborted ? undefined : changed(files)))
    }, GATHERED)
  }
  const watchers = new Map<string, FSWatcher>()
  const watchFolder = (folder: string, path: string): void => {
    const here = join(folder, path)
    watchers.get(here)?.close()
    // Where a system cannot watch (too many files, say) everything else still works.
    try {
      const watcher = watch(here, (_event, name) => {
        if (name === null) return
        const file = join(path, name)
        if (UNWATCHED.test(file)) return
        // A folder that is new, or comes back.
        if (isFolder(join(folder, file))) watchFolder(folder, file)
        else if (WATCHED.test(file)) report(join(folder, file))
      })
      watcher.on('error', tellUnwatched)
      watchers.set(here, watcher)
      for (const entry of readdirSync(here, { withFileTypes: true })) {
        const below = join(path, entry.name)
        if (entry.isDirectory() && !UNWATCHED.test(below)) watchFolder(folder, below)
      }
    } catch (error) {
      tellUnwatched(error)
    }
  }
  for (const folder of folders) watchFolder(folder, '')
  const stop = (): void => {
    for (const watcher of watchers.values()) watcher.close()
  }
  signal.addEventListener('abort', stop, { once: true })
}

function tellUnwatched(error: unknown): void {
  process.stderr.write(`Changes of files are not seen: ${error instanceof Error ? error.message : String(error)}\n`)
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
