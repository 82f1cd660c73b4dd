// Writes the documents of the demo catalogue: small PDF files with invented terms, the same bytes each time.
// node scripts/demo-documents.mjs
import { mkdirSync, writeFileSync } from 'node:fs'

const folder = new URL('../service/assets/documents/', import.meta.url)
mkdirSync(folder, { recursive: true })

const english = {
  accident: [
    'Accident coverage: summary of benefits',
    'Up to $10,000 for each accident, on the job or at home.',
  ],
  hospital: [
    'Hospital cash: summary of benefits',
    '$150 for each night in the hospital, up to 30 nights a year.',
  ],
  critical: [
    'Critical illness: summary of benefits',
    '$5,000 once, when a doctor first finds a serious illness.',
  ],
  life: ['Term life: policy summary', '$25,000 to the people you name as your beneficiaries.'],
  income: ['Income coverage: summary of benefits', '$300 a week from the 15th day you cannot work.'],
}
const spanish = {
  accident: [
    'Cobertura por accidentes: resumen de beneficios',
    'Hasta $10,000 por cada accidente, en el trabajo o en casa.',
  ],
  hospital: [
    'Dinero por hospitalización: resumen de beneficios',
    '$150 por cada noche en el hospital, hasta 30 noches al año.',
  ],
  critical: [
    'Enfermedades graves: resumen de beneficios',
    '$5,000 una sola vez, cuando un médico detecta una enfermedad grave.',
  ],
  life: ['Seguro de vida a término: resumen de la póliza', '$25,000 para las personas que usted designe.'],
  income: [
    'Protección de ingresos: resumen de beneficios',
    '$300 por semana a partir del día 15 sin poder trabajar.',
  ],
}
for (const [name, lines] of Object.entries(english))
  write(`${name}-en`, 'en', [...lines, 'This document is made up for a demonstration. It is no contract.'])
for (const [name, lines] of Object.entries(spanish))
  write(`${name}-es`, 'es', [
    ...lines,
    'Este documento es inventado para una demostración. No es un contrato.',
  ])
write('fraud-notice-fl-en', 'en', [
  'Florida fraud notice',
  'Whoever knowingly files a false claim commits a crime. (Made up for a demonstration.)',
])
write('fraud-notice-fl-es', 'es', [
  'Aviso de fraude de Florida',
  'Quien presente a sabiendas una reclamación falsa comete un delito. (Inventado para una demostración.)',
])

/** One page in Helvetica, which every reader has; the first line becomes the title. */
function write(name, language, lines) {
  const escaped = lines.map(line => line.replace(/[\\()]/g, sign => `\\${sign}`))
  const text = escaped.map((line, at) => `/F1 ${at === 0 ? 16 : 11} Tf (${line}) Tj 0 -26 Td`).join('\n')
  const stream = `BT\n56 720 Td\n${text}\nET`
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R /Lang (${language}) /ViewerPreferences << /DisplayDocTitle true >> >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Title (${escaped[0]}) >>`,
  ]
  let body = '%PDF-1.4\n'
  const offsets = objects.map((object, at) => {
    const offset = body.length
    body += `${at + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const rows = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R /Info 6 0 R >>\nstartxref\n${body.length}\n%%EOF\n`
  const whole = `${body}xref\n0 ${size}\n0000000000 65535 f \n${rows}${trailer}`
  writeFileSync(new URL(`${name}.pdf`, folder), Buffer.from(whole, 'latin1'))
}
