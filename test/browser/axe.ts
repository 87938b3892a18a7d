/// <reference lib="dom" />
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, ElementContext, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What is not judged in the part of a page that a library renders. */
interface Exception {
  /** The selector of the part. */
  readonly within: string
  /** The ids of rules of axe, and why each is left as it is. */
  readonly rules: Readonly<Record<string, string>>
}

/**
 * What axe finds wrong on the page as it is now, `color-contrast: header p`, one text for each element. The script is put into
 * the page by the developer tools, which no content security policy concerns.
 */
export async function accessibilityViolations(page: Page, exception?: Exception): Promise<string[]> {
  await page.evaluate(SOURCE)
  const excepted = { within: exception?.within ?? '', rules: Object.keys(exception?.rules ?? {}) }
  const found = await page.evaluate(async ({ within, rules }) => {
    const { axe } = globalThis as unknown as {
      readonly axe: { run(context: ElementContext, options: RunOptions): Promise<AxeResults> }
    }
    const others = Object.fromEntries(rules.map((rule) => [rule, { enabled: false }]))
    const results = [await axe.run(document, { resultTypes: ['violations'], rules: others })]
    // Outside of the part alone: the thousand elements of a library would take most of the time.
    if (within !== '') {
      results.push(await axe.run({ exclude: within }, { resultTypes: ['violations'], runOnly: rules }))
    }
    return results.flatMap(({ violations }) => violations)
  }, excepted)
  return found.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = '' }) =>
        `${id}: ${target.flat().join(' ')} (${failureSummary.replaceAll(/\s+/g, ' ')})`
    )
  )
}
