import { randomBytes } from 'node:crypto'
import { chmod, mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import type { Mailer } from '../ports/mailer.ts'
import { keepLinesWhole, toMessage } from './message.ts'

/**
 * For a machine without SMTP: each mail becomes `<folder>/<time>-<random>.eml`, and a sign-in link
 * is also printed, on the terminal and never in the structured log.
 */
export function createOutboxMailer(
  folder: string,
  from: string,
  print: (line: string) => void,
): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true })
  keepLinesWhole(transport)
  return {
    send: async (mail) => {
      const { message } = await transport.sendMail(toMessage(from, mail))
      if (!Buffer.isBuffer(message))
        throw new TypeError('expected nodemailer to buffer the message')
      // The mode of `mkdir` says nothing to a folder that was there before.
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await chmod(folder, 0o700)
      const name = `${Date.now()}-${randomBytes(4).toString('hex')}`
      await writeWhole(join(folder, name), message)
      if (mail.link !== undefined) print(`Sign-in link for ${mail.to}: ${mail.link}`)
    },
    close: () => transport.close(),
  }
}

/** A reader of the folder sees a finished `.eml` or none. */
async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  const file = await open(`${path}.part`, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.part`, `${path}.eml`)
}
