const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i

/** A request target in origin form (RFC 9112 section 3.2): routes know no other. */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const rest = target.replace(ABSOLUTE_FORM, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}
