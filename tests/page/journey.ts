import type { FrameLocator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Receiver } from '../webhooks/receiver.ts'
import type { Rig } from './rig.ts'

/** The words that a person reads and presses between their link and the confirmation. */
export const words = {
  en: {
    open: 'Open my benefits',
    changeBirthDate: 'Change – Date of birth',
    day: 'Day',
    month: 'Month',
    save: 'Save and continue',
    badBirthDate: 'Date of birth must be a real date, for example March 27, 1990',
    birthDate: 'February 7, 1990',
    right: 'These are right – continue',
    choose: 'Choose Identity protection',
    continue: 'Continue',
    records: 'I agree to receive documents electronically',
    agree: 'I have read this and I agree',
    mustAgree: 'Select the box to agree before enrolling',
    orWithout: ', or go back and choose without this benefit',
    enrol: 'Enroll now',
    enrolled: 'You are enrolled',
    back: 'Back to Harbor Rides',
    close: 'Close',
  },
  es: {
    open: 'Abrir mis beneficios',
    changeBirthDate: 'Cambiar – Fecha de nacimiento',
    day: 'Día',
    month: 'Mes',
    save: 'Guardar y continuar',
    badBirthDate: 'La fecha de nacimiento debe ser una fecha real, por ejemplo 27 de marzo de 1990',
    birthDate: '7 de febrero de 1990',
    right: 'Todo está bien: continuar',
    choose: 'Elegir Protección de identidad',
    continue: 'Continuar',
    records: 'Acepto recibir los documentos en forma electrónica',
    agree: 'Leí este texto y acepto',
    mustAgree: 'Marque la casilla para aceptar antes de inscribirse',
    orWithout: ', o vuelva atrás y continúe sin este beneficio',
    enrol: 'Inscribirme ahora',
    enrolled: 'Su inscripción está lista',
    back: 'Volver a Harbor Rides',
    close: 'Cerrar',
  },
} as const

/** A language of the page. */
export type Language = keyof typeof words

/** Presses a button of the page or of its frame. */
export function pressIn(place: Page | FrameLocator, name: string): Promise<void> {
  return place.getByRole('button', { name, exact: true }).click()
}

/**
 * The whole way from the details to the confirmation, with a birth date that is first corrected wrongly, a chosen benefit,
 * and a consent that is first forgotten. Fails when a view, the words of an error or what was typed is missing.
 */
export async function walk(place: Page | FrameLocator, language: Language): Promise<void> {
  const say = words[language]
  const press = (name: string) => pressIn(place, name)
  await place.getByRole('link', { name: say.changeBirthDate }).click()
  await place.getByLabel(say.day).fill('31')
  await place.getByLabel(say.month).selectOption('2')
  await press(say.save)
  await place.getByRole('link', { name: say.badBirthDate }).waitFor()
  expect(await place.locator('title').textContent()).toMatch(/^Error: /)
  expect(await place.getByLabel(say.day).inputValue()).toBe('31')
  await place.getByLabel(say.day).fill('7')
  await press(say.save)
  await place.getByText(say.birthDate).waitFor()
  await press(say.right)
  await place.getByLabel(say.choose).check()
  await press(say.continue)
  await place.getByLabel(say.records).check()
  await press(say.enrol)
  await place.getByRole('link', { name: say.mustAgree }).waitFor()
  await place.getByLabel(say.agree).check()
  await press(say.enrol)
  await place.getByRole('heading', { name: say.enrolled }).waitFor()
  expect(await place.locator('html').getAttribute('lang')).toBe(language)
  expect(await place.locator('.reference strong').textContent()).toMatch(/^BE-[0-9A-Z]{4}-[0-9A-Z]{4}$/)
}

/** The events of the person's enrolment. */
export const told = ['enrollment_request_received', 'enrollment_successful', 'offer_activiation_successful']

/** Waits until the partner's receiver has every event of this person, each once and with the promised body. */
export async function heardByPartner(receiver: Receiver, rig: Rig): Promise<void> {
  const arrived = () => receiver.deliveries.filter(({ userid }) => userid === rig.userid())
  const names = () => arrived().map(({ eventname }) => eventname)
  await expect.poll(() => names().sort()).toEqual(told)
  expect(await rig.events()).toEqual(told)
  const activated = arrived().find(({ eventname }) => eventname === 'offer_activiation_successful')
  expect(activated?.authorization).toBe(`Basic ${Buffer.from('harbor:pilot').toString('base64')}`)
  expect(JSON.parse(activated?.body ?? '')).toEqual({
    userid: rig.userid(),
    eventname: 'offer_activiation_successful',
    currentofferdetails: {
      offer: 'starter',
      updatedat: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      serviceid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    },
  })
}

/** Checks the person's data afterwards: enrolled, with the corrected date and the consent in their language. */
export async function isEnrolled(rig: Rig, language: Language): Promise<void> {
  expect(await rig.partner.client.getUser({ userid: rig.userid() })).toMatchObject({
    status: 'active',
    currentofferdetails: { offer: 'starter' },
    consents: [
      { name: 'electronic-records', version: '2026-11', locale: language },
      { name: 'identity', version: '2026-01', locale: language },
    ],
  })
}
