/** `Content-Disposition` of an export: `<resource>-<yyyyMMddTHHmmssZ>.csv`. */
export function attachmentName(resource: string, now: Date): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  return `attachment; filename="${resource}-${time}.csv"`
}
