import { type Html, html } from '../../http/html.ts'
import { colorNames, ownColors } from '../../look/colors.ts'
import { FONTS, type Look } from '../../look/look.ts'
import { SAMPLE_NAMES } from './look-sample.ts'

/** The content of the page on which a designer tries a look. */
type LookPreview = {
  readonly look: Look
  /** Why the look is refused; empty when it can be used. */
  readonly problems: readonly string[]
  readonly stylesheet: string
  readonly icon: string
  /** The path of this page; the samples are below it. */
  readonly root: string
  /** The query that gives the samples the look. */
  readonly query: string
}

/** The page on which a designer tries a look, sees which parts cannot be read, and copies the settings. */
export function lookPreview(preview: LookPreview): string {
  const { look, problems, root, query } = preview
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Try a look</title>
<link rel="stylesheet" href="${preview.stylesheet}">
<link rel="icon" href="${preview.icon}" type="image/svg+xml">
</head>
<body>
<div id="page"><main id="main" class="wide">
<h1>Try a look</h1>
<p class="lead">Choose colors, corners and a font, see the pages in them, and copy the settings. Nothing is stored here.</p>
${
  problems.length > 0 &&
  html`<section class="notice alert" role="alert"><div><h2>This look is refused</h2><ul>${problems.map(problem => html`<li>${problem}</li>`)}</ul></div></section>`
}
<form method="get" action="${root}">
${(['light', 'dark'] as const).map(scheme => colorFields(scheme, look))}
<fieldset><legend><h2>Shape and letters</h2></legend><div class="look-fields">
<div><label for="radius">Radius of corners, 0 to 24</label><input id="radius" name="radius" type="text" inputmode="numeric" class="short" value="${look.radius ?? ''}"></div>
${selectField('font', 'Font', ['', ...Object.keys(FONTS)], look.font)}
${selectField('scheme', 'Scheme', ['', 'auto', 'light', 'dark'], look.scheme)}
</div></fieldset>
<p class="actions"><button class="primary">Show this look</button></p>
</form>
${problems.length === 0 && settings(look)}
<section><h2>How it looks</h2>
${SAMPLE_NAMES.map(name => html`<h3>${name}</h3><iframe class="look-sample" title="Sample: ${name}" sandbox="allow-same-origin" src="${root}/${name}?${query}"></iframe>`)}</section>
</main></div>
</body>
</html>
`.markup
}

/** The settings to copy: the operator's command, and the values that an embedding page passes. */
function settings({ colors, radius, font, scheme }: Look): Html {
  const options = [
    colors && `--colors '${JSON.stringify(colors)}'`,
    radius !== undefined && `--radius ${radius}`,
    font && `--font ${font}`,
    scheme && `--scheme ${scheme}`,
  ].filter(option => option)
  const appearance = {
    ...(scheme ? { scheme } : {}),
    ...colors,
    ...(radius === undefined ? {} : { radius }),
    ...(font ? { fonts: FONTS[font] } : {}),
  }
  return html`<section class="panel"><h2>Settings to copy</h2>
<h3 id="command">For all pages of a partner</h3>
<pre class="look-settings" tabindex="0" role="region" aria-labelledby="command">enrolment partner update PARTNER ${options.join(' ')}</pre>
<h3 id="appearance">For one embedding page, as <code>appearance</code></h3>
<pre class="look-settings" tabindex="0" role="region" aria-labelledby="appearance">${JSON.stringify(appearance)}</pre>
<p class="hint">A logo is added with <code>--logo FILE</code>, a square PNG or WebP file of 64 KiB at most.</p></section>`
}

function colorFields(scheme: 'light' | 'dark', look: Look): Html {
  const given = look.colors?.[scheme] ?? {}
  return html`<fieldset><legend><h2>Colors, ${scheme}</h2></legend><div class="look-fields">${colorNames.map(
    name => {
      const id = `${scheme}.${name}`
      return html`<div><label for="${id}">${name}</label><input id="${id}" name="${id}" type="text" class="short" spellcheck="false" autocomplete="off" value="${given[name] ?? ownColors[scheme][name]}"></div>`
    },
  )}</div></fieldset>`
}

function selectField(
  name: string,
  label: string,
  choices: readonly string[],
  chosen: string | undefined,
): Html {
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}" class="middle">${choices.map(choice => html`<option value="${choice}"${choice === (chosen ?? '') && html` selected`}>${choice || 'ours'}</option>`)}</select></div>`
}
