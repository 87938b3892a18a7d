/** Paths of a thing in a field of 200 by 160 that stands on a floor at 130. */
export interface ProductShape {
  /** Filled in the colour of its material. */
  readonly body: string
  /** Filled, over the body, in a darker tone. */
  readonly shade?: string
  /** Drawn as a thick line in the colour of its material. */
  readonly rod?: string
  /** Drawn as a thin darker line. */
  readonly line?: string
  /** Filled in a light tone, below the body. */
  readonly light?: string
}

/** By the last word of a product's name. */
export const SHAPES: Readonly<Record<string, ProductShape>> = {
  Basket: {
    rod: 'M66 84Q100 26 134 84',
    body: 'M54 82H146L134 126Q100 134 66 126Z',
    line: 'M57 95H143M61 109H139M78 84L82 128M100 84V130M122 84L118 128'
  },
  Bench: {
    body: 'M42 56H158V64H42ZM42 70H158V78H42ZM36 90H164V100H36ZM50 52H58V92H50ZM142 52H150V92H142ZM48 100H58V130H48ZM142 100H152V130H142Z',
    shade: 'M48 100H58V130H48ZM142 100H152V130H142Z'
  },
  Bowl: {
    body: 'M46 82A54 9 0 0 1 154 82Q150 122 116 126V130H84V126Q50 122 46 82Z',
    shade: 'M46 82A54 9 0 0 1 154 82A54 9 0 0 1 46 82Z'
  },
  Chair: {
    body: 'M72 34H80V92H72ZM120 34H128V92H120ZM76 40H124V50H76ZM76 58H124V66H76ZM66 86H134V96H66ZM70 96H79V130H70ZM121 96H130V130H121Z',
    shade: 'M70 96H79V130H70ZM121 96H130V130H121Z'
  },
  Clock: {
    light: 'M62 84A38 38 0 0 1 138 84A38 38 0 0 1 62 84Z',
    body: 'M54 84A46 46 0 0 1 146 84A46 46 0 0 1 54 84ZM64 84A36 36 0 0 0 136 84A36 36 0 0 0 64 84Z',
    line: 'M100 58V84L118 94M100 52V56M100 112V116M68 84H72M128 84H132'
  },
  Jug: {
    rod: 'M124 64Q156 64 150 90Q146 108 128 108',
    body: 'M74 48H124L130 116Q130 130 116 130H86Q72 130 72 116L76 66L60 54Z',
    shade: 'M75 92H128L130 116Q130 130 116 130H86Q72 130 72 116Z'
  },
  Kettle: {
    rod: 'M70 84Q100 20 130 84',
    body: 'M60 130Q50 82 100 78Q150 82 140 130ZM134 106L160 78L170 86L142 122ZM92 74A8 8 0 0 1 108 74V80H92Z',
    shade: 'M57 116H143L140 130H60Z'
  },
  Knife: {
    light: 'M26 100Q58 70 118 74V100Z',
    body: 'M116 72H166Q178 72 178 84Q178 96 166 96H116Z',
    line: 'M128 84H130M146 84H148M164 84H166'
  },
  Lamp: {
    light: 'M64 84H136L152 130H48Z',
    body: 'M80 36H120L140 84H60Z',
    shade: 'M97 84H103V120H97ZM76 130Q76 120 86 120H114Q124 120 124 130Z'
  },
  Pan: {
    body: 'M34 96H126Q124 126 104 128H56Q36 126 34 96Z',
    rod: 'M124 100L176 90',
    shade: 'M34 96H126L125 104H35Z'
  },
  Ski: {
    body: '',
    rod: 'M60 130L92 48Q97 34 108 38M96 130L128 48Q133 34 144 38',
    line: 'M70 104L78 84M106 104L114 84'
  },
  Throw: {
    body: 'M56 62H144Q154 62 154 72V90H46V72Q46 62 56 62ZM50 92H150Q156 92 156 98V122H44V98Q44 92 50 92Z',
    shade: 'M44 106H156V112H44ZM46 76H154V80H46Z',
    line: 'M50 122V130M62 122V130M74 122V130M86 122V130M98 122V130M110 122V130M122 122V130M134 122V130M146 122V130'
  },
  Vase: {
    line: 'M100 50Q98 30 84 18M100 50Q104 30 118 22M92 30L82 34M108 34L120 38',
    body: 'M86 48H114Q110 66 122 80Q140 104 118 130H82Q60 104 78 80Q90 66 86 48Z',
    shade: 'M70 98H130Q130 116 118 130H82Q70 116 70 98Z'
  }
}

/** By the word before it. */
export const MATERIALS: Readonly<Record<string, string>> = {
  Bamboo: '#bda84a',
  Birch: '#cdb184',
  Brass: '#c2932f',
  Clay: '#b8694a',
  Copper: '#b4683c',
  Cork: '#ab8353',
  Glass: '#6fa3a9',
  Linen: '#b9ab8c',
  Oak: '#a57438',
  Steel: '#7d8c93',
  Walnut: '#6b4a34',
  Wool: '#94799f'
}
