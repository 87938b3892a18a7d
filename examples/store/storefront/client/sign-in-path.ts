/** The path of the sign-in page, which leads back to this page. */
export function signInPath(): string {
  return `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`
}
