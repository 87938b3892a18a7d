interface Exported {
  readonly fileName: string
  file(): ReadableStream<Uint8Array>
}

/** Lets the browser save an export under the name that the service gave it. Rejects where it broke off. */
export async function saveExport(exported: Exported): Promise<void> {
  const blob = await new Response(exported.file()).blob()
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = exported.fileName
  link.click()
  URL.revokeObjectURL(link.href)
}
