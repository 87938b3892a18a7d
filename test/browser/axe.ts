/// <reference lib="dom" />
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What is not judged, where a library renders it: the id of a rule of axe with the part of the page. */
interface Exception {
  readonly rule: string
  readonly within: string
  /** Why it is left as it is. */
  readonly because: string
}

/**
 * What axe finds wrong on the page as it is now, `color-contrast: header p`, one text for each element. The script is put into
 * the page by the developer tools, which no content security policy concerns.
 */
export async function accessibilityViolations(page: Page, exceptions: readonly Exception[] = []): Promise<string[]> {
  await page.evaluate(SOURCE)
  const { violations } = await page.evaluate(() => {
    const { axe } = globalThis as unknown as { readonly axe: { run(options: RunOptions): Promise<AxeResults> } }
    return axe.run({ resultTypes: ['violations'] })
  })
  const found: string[] = []
  for (const { id, nodes } of violations) {
    const within = exceptions.filter(({ rule }) => rule === id).map((one) => one.within)
    for (const { target, failureSummary = '' } of nodes) {
      const selector = target.flat().join(' ')
      const isExcepted = await page.evaluate(
        ([element, parts]) => parts.some((part) => (document.querySelector(element)?.closest(part) ?? null) !== null),
        [selector, within] as const
      )
      if (!isExcepted) found.push(`${id}: ${selector} (${failureSummary.replaceAll(/\s+/g, ' ')})`)
    }
  }
  return found
}
