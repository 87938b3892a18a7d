/**
 * Headers of all answers that a process gives itself, as OWASP advises for interfaces: nothing in them is run, framed or
 * embedded by another site, and no page is told where its reader came from. The gateway's own pages replace the policy by
 * theirs, and answers of the renderer have what the renderer says.
 */
export const OWN_ANSWERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin'
} as const
