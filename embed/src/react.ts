'use client'

import { createElement, type ReactElement, useEffect, useMemo, useRef } from 'react'
import { create, type Embed, type Options } from './create.ts'

/** The functions that the hook returns; they stay the same for the whole life of the component. */
export type EmbedControls = Pick<Embed, 'open' | 'exit'>

/**
 * The embed as a hook: `open` shows the page in a dialog. The embed is removed with the component, works in
 * StrictMode, and always calls the newest callbacks. When `service` or `partner` changes, an open page is closed.
 */
export function useBenefitEnrolment(options: Omit<Options, 'container'>): EmbedControls {
  const embed = useEmbed(options)
  return useMemo(() => ({ open: () => embed.current?.open(), exit: () => embed.current?.exit() }), [embed])
}

/** Shows the page at once, in the place of this component and as high as its content. */
export function BenefitEnrolment(props: Omit<Options, 'container'>): ReactElement {
  const container = useRef<HTMLDivElement>(null)
  const embed = useEmbed(props, container)
  const { service, partner } = props
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new service or partner made a new embed, which is to be opened.
  useEffect(() => embed.current?.open(), [embed, service, partner])
  return createElement('div', { ref: container })
}

function useEmbed(options: Omit<Options, 'container'>, container?: { readonly current: Element | null }) {
  const embed = useRef<Embed | undefined>(undefined)
  const newest = useRef(options)
  const { service, partner, locale } = options
  useEffect(() => {
    newest.current = options
  })
  useEffect(() => {
    const made = create({
      ...newest.current,
      service,
      partner,
      container: container?.current ?? undefined,
      get token() {
        const { token } = newest.current
        return typeof token === 'string' ? token : () => fetchNewest(newest.current.token)
      },
      onSuccess: success => newest.current.onSuccess?.(success),
      onExit: exit => newest.current.onExit?.(exit),
      onEvent: event => newest.current.onEvent?.(event),
    })
    embed.current = made
    return () => {
      made.destroy()
      embed.current = undefined
    }
  }, [service, partner, container])
  useEffect(() => embed.current?.update({ locale }), [locale])
  return embed
}

function fetchNewest(token: Options['token']): string | Promise<string> {
  return typeof token === 'string' ? token : token()
}
