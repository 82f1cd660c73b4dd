import { formIn } from '../../http/form.ts'
import { ConsoleRefusal, type UploadedFile } from '../screen/screen.ts'

/** The content of a posted form. */
type SentForm = { readonly form: URLSearchParams; readonly files: readonly UploadedFile[] }

/**
 * Reads the body of a form, with the files of a `multipart/form-data` body; an empty file field counts as no file.
 * Rejects with a refusal when the body is malformed.
 */
export async function readForm(body: unknown, contentType: string | undefined): Promise<SentForm> {
  if (!Buffer.isBuffer(body)) return { form: formIn(body), files: [] }
  const headers = { 'content-type': contentType ?? '' }
  const sent = await new Response(new Uint8Array(body), { headers }).formData().catch(() => {
    throw new ConsoleRefusal(400, 'Not read', 'The form did not arrive whole. Go back and send it again.')
  })
  const form = new URLSearchParams()
  const files: UploadedFile[] = []
  for (const [field, value] of sent) {
    if (typeof value === 'string') form.append(field, value)
    else if (value.name !== '')
      files.push({ field, name: value.name, content: Buffer.from(await value.arrayBuffer()) })
  }
  return { form, files }
}
