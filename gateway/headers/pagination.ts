/** What the data service says of a page. */
export interface PageFacts {
  /** As clamped, at least 1. */
  readonly pageSize: number
  /** Decimal digits of any length. */
  readonly currentPage: string
  /** Decimal digits; undefined where the count was skipped. */
  readonly totalCount: string | undefined
  readonly hasNext: boolean
}

/** A page and its neighbours, page numbers as decimal digits. */
export interface Pagination {
  /** The value of `X-Pagination`. */
  readonly json: string
  readonly totalCount: string | undefined
  readonly previous: string | undefined
  readonly next: string | undefined
  /** undefined where the total is unknown or the result is empty. */
  readonly last: string | undefined
}

/** Digits of a page number that `X-Pagination` repeats; of a longer one the caller has to remember what was asked. */
const MAX_DIGITS = 1000

/**
 * Page numbers are exact however large. Past the end the previous page is the last one. The JSON is put together by
 * hand since a page number may hold more digits than a double.
 */
export function paginationOf(page: PageFacts): Pagination {
  const current = BigInt(page.currentPage)
  const total = page.totalCount === undefined ? undefined : BigInt(page.totalCount)
  const size = BigInt(page.pageSize)
  const pages = total === undefined ? undefined : (total + size - 1n) / size
  const previous = previousOf(current, pages)
  const members = [
    ...(total === undefined ? [] : [`"totalCount":${total}`]),
    `"pageSize":${size}`,
    ...(page.currentPage.length > MAX_DIGITS ? [] : [`"currentPage":${current}`]),
    ...(pages === undefined ? [] : [`"totalPages":${pages}`]),
    `"hasPrevious":${previous !== undefined}`,
    `"hasNext":${page.hasNext}`
  ]
  return {
    json: `{${members.join(',')}}`,
    totalCount: total?.toString(),
    previous: previous?.toString(),
    next: page.hasNext ? (current + 1n).toString() : undefined,
    last: pages === undefined || pages === 0n ? undefined : pages.toString()
  }
}

function previousOf(current: bigint, pages: bigint | undefined): bigint | undefined {
  const before = current - 1n
  const previous = pages !== undefined && before > pages ? pages : before
  return previous < 1n ? undefined : previous
}
