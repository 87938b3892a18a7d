import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../harness/package-root.js'

/** A command of a page and, where the page shows it, what it prints. */
interface Example {
  readonly command: string
  readonly output: string | undefined
}

const BLOCK = /^```(sh|text)\n([\s\S]*?)^```$/gm

/** Every `sh` block of a page in order, with the `text` block right after it. */
export function examplesOf(page: string): readonly Example[] {
  const examples: { command: string; output: string | undefined }[] = []
  for (const [, kind, body = ''] of readFileSync(join(packageRoot, page), 'utf8').matchAll(BLOCK)) {
    const last = examples.at(-1)
    if (kind === 'sh') examples.push({ command: body.trim(), output: undefined })
    else if (last !== undefined && last.output === undefined) last.output = body.trimEnd()
  }
  return examples
}

/** Headers that docs/first-calls.md leaves out, in its own words, and so do README and tour. */
const LEFT_OUT =
  /^(?:x-request-id|x-content-type-options|content-security-policy|referrer-policy|cross-origin-resource-policy|date|connection|keep-alive|content-length):/i

/** What a command printed, in the form the pages show it, with what differs from run to run made the same. */
export function comparable(output: string): string {
  return output
    .replaceAll('\r', '')
    .split('\n')
    .filter((line) => !LEFT_OUT.test(line))
    .join('\n')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:3000')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<request id>')
    .replaceAll(/"[A-Za-z0-9+/]{11}="/g, '"<version>"')
    .replaceAll(/O-[0-9A-Z]{12}/g, '<number>')
    .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replaceAll(/eyJ[\w.…-]+/g, '<token>')
    .replaceAll(/ur_machine_[\w…-]+/g, '<secret>')
    .trimEnd()
}
