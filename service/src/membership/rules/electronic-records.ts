import type { Bilingual } from '../../catalogue/model.ts'

/**
 * The consent to electronic records that the E-SIGN Act requires before the first agreement (15 U.S.C. 7001(c)). No
 * benefit can have its name, because names of benefits consist of letters and digits only. A changed text needs a new
 * version.
 */
export const ELECTRONIC_RECORDS: {
  readonly name: string
  readonly version: string
  readonly title: Bilingual
  readonly text: Bilingual
} = {
  name: 'electronic-records',
  version: '2026-11',
  title: { en: 'Electronic documents', es: 'Documentos electrónicos' },
  text: {
    en: `You agree to receive the documents about your benefits electronically: on this page, as files that you can save or print, and through the links you are sent. Keep your email address up to date under “Check your details”.

You have the right to a paper copy at no charge, now or later. You can withdraw this consent at any time. For either, use the help at the bottom of this page. Withdrawing does not change what you agreed to before.

To read and keep the documents you need a device with internet access, a current web browser, an app that opens PDF files, and room to save them.`,
    es: `Usted acepta recibir los documentos sobre sus beneficios en forma electrónica: en esta página, como archivos que puede guardar o imprimir, y a través de los enlaces que reciba. Mantenga al día su correo electrónico en “Revisar sus datos”.

Tiene derecho a una copia en papel sin costo, ahora o más adelante. Puede retirar este consentimiento en cualquier momento. Para lo uno o lo otro, use la ayuda al final de esta página. Retirarlo no cambia lo que aceptó antes.

Para leer y conservar los documentos necesita un dispositivo con acceso a internet, un navegador actual, una aplicación que abra archivos PDF y espacio para guardarlos.`,
  },
}
