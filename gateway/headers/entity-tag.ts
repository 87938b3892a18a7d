/** The weak entity tag of a row version; undefined for the empty one, which is no version. */
export function entityTag(rowVersion: Buffer): string | undefined {
  return rowVersion.length === 0 ? undefined : `W/"${rowVersion.toString('base64')}"`
}
