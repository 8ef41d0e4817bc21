/**
 * Main places of the world with their country (ISO 3166) and coordinates, north and east in degrees, to a
 * hundredth. The cities that name time zones are from `zone.tab` of the IANA time zone database, which is
 * in the public domain (https://www.iana.org/time-zones); large cities that name none were added by hand.
 */
const PLACES = `
Aarhus,DK,56.16,10.20|Abidjan,CI,5.32,-4.03|Abuja,NG,9.06,7.49|Accra,GH,5.55,-0.22|Adak,US,51.88,-176.66
Addis Ababa,ET,9.03,38.70|Adelaide,AU,-34.92,138.58|Aden,YE,12.75,45.20|Ahmedabad,IN,23.03,72.58
Alexandria,EG,31.20,29.92|Algiers,DZ,36.78,3.05|Almaty,KZ,43.25,76.95|Amman,JO,31.95,35.93
Amsterdam,NL,52.37,4.90|Anadyr,RU,64.75,177.48|Anchorage,US,61.22,-149.90|Andorra,AD,42.50,1.52
Anguilla,AI,18.20,-63.07|Ankara,TR,39.93,32.86|Antananarivo,MG,-18.92,47.52|Antigua,AG,17.05,-61.80
Antwerp,BE,51.22,4.40|Apia,WS,-13.83,-171.73|Aqtau,KZ,44.52,50.27|Aqtobe,KZ,50.28,57.17
Araguaina,BR,-7.20,-48.20|Aruba,AW,12.50,-69.97|Ashgabat,TM,37.95,58.38|Asmara,ER,15.33,38.88
Astrakhan,RU,46.35,48.05|Asuncion,PY,-25.27,-57.67|Athens,GR,37.97,23.72|Atlanta,US,33.75,-84.39
Atyrau,KZ,47.12,51.93|Auckland,NZ,-36.87,174.77|Austin,US,30.27,-97.74|Baghdad,IQ,33.35,44.42
Bahia,BR,-12.98,-38.52|Bahia Banderas,MX,20.80,-105.25|Bahrain,BH,26.38,50.58|Baku,AZ,40.38,49.85
Baltimore,US,39.29,-76.61|Bamako,ML,12.65,-8.00|Bangalore,IN,12.97,77.59|Bangkok,TH,13.75,100.52
Bangui,CF,4.37,18.58|Banjul,GM,13.47,-16.65|Barbados,BB,13.10,-59.62|Barcelona,ES,41.39,2.17
Barnaul,RU,53.37,83.75|Basel,CH,47.56,7.59|Beijing,CN,39.90,116.41|Beirut,LB,33.88,35.50|Belem,BR,-1.45,-48.48
Belgrade,RS,44.83,20.50|Belize,BZ,17.50,-88.20|Bengaluru,IN,12.97,77.59|Bergen,NO,60.39,5.32
Berlin,DE,52.50,13.37|Bermuda,BM,32.28,-64.77|Bern,CH,46.95,7.45|Bilbao,ES,43.26,-2.93|Birmingham,GB,52.48,-1.90
Bishkek,KG,42.90,74.60|Bissau,GW,11.85,-15.58|Blanc-Sablon,CA,51.42,-57.12|Blantyre,MW,-15.78,35.00
Boa Vista,BR,2.82,-60.67|Bogota,CO,4.60,-74.08|Boise,US,43.61,-116.20|Bologna,IT,44.49,11.34|Bonn,DE,50.74,7.10
Bordeaux,FR,44.84,-0.58|Boston,US,42.36,-71.06|Brasilia,BR,-15.79,-47.88|Bratislava,SK,48.15,17.12
Brazzaville,CG,-4.27,15.28|Bremen,DE,53.08,8.80|Brisbane,AU,-27.47,153.03|Bristol,GB,51.45,-2.59
Broken Hill,AU,-31.95,141.45|Brunei,BN,4.93,114.92|Brussels,BE,50.83,4.33|Bucharest,RO,44.43,26.10
Budapest,HU,47.50,19.08|Buenos Aires,AR,-34.60,-58.45|Bujumbura,BI,-3.38,29.37|Busan,KR,35.18,129.08
Busingen,DE,47.70,8.68|Cairo,EG,30.05,31.25|Calgary,CA,51.05,-114.07|Cambridge Bay,CA,69.11,-105.05
Campo Grande,BR,-20.45,-54.62|Canberra,AU,-35.28,149.13|Cancun,MX,21.08,-86.77|Cape Town,ZA,-33.92,18.42
Cape Verde,CV,14.92,-23.52|Caracas,VE,10.50,-66.93|Cardiff,GB,51.48,-3.18|Casablanca,MA,33.57,-7.59
Catamarca,AR,-28.47,-65.78|Cayenne,GF,4.93,-52.33|Cayman,KY,19.30,-81.38|Ceuta,ES,35.88,-5.32
Chagos,IO,-7.33,72.42|Charlotte,US,35.23,-80.84|Chatham,NZ,-43.95,-176.55|Chengdu,CN,30.57,104.07
Chennai,IN,13.08,80.27|Chicago,US,41.85,-87.65|Chihuahua,MX,28.63,-106.08|Chisinau,MD,47.00,28.83
Chita,RU,52.05,113.47|Christmas,CX,-10.42,105.72|Chuuk,FM,7.42,151.78|Ciudad Juarez,MX,31.73,-106.48
Cocos,CC,-12.17,96.92|Cologne,DE,50.94,6.96|Colombo,LK,6.93,79.85|Comoro,KM,-11.68,43.27|Conakry,GN,9.52,-13.72
Copenhagen,DK,55.67,12.58|Cordoba,AR,-31.40,-64.18|Costa Rica,CR,9.93,-84.08|Coyhaique,CL,-45.57,-72.07
Creston,CA,49.10,-116.52|Cuiaba,BR,-15.58,-56.08|Curacao,CW,12.18,-69.00|Cusco,PE,-13.53,-71.97
Dakar,SN,14.67,-17.43|Dallas,US,32.78,-96.80|Damascus,SY,33.50,36.30|Danmarkshavn,GL,76.77,-18.67
Dar es Salaam,TZ,-6.80,39.28|Darwin,AU,-12.47,130.83|Dawson,CA,64.07,-139.42|Dawson Creek,CA,55.77,-120.23
Dehradun,IN,30.32,78.03|Delhi,IN,28.65,77.23|Denver,US,39.74,-104.98|Detroit,US,42.33,-83.05
Dhaka,BD,23.72,90.42|Dili,TL,-8.55,125.58|Djibouti,DJ,11.60,43.15|Doha,QA,25.29,51.53|Dominica,DM,15.30,-61.40
Douala,CM,4.05,9.70|Dresden,DE,51.05,13.74|Dubai,AE,25.30,55.30|Dublin,IE,53.33,-6.25|Durban,ZA,-29.86,31.02
Dushanbe,TJ,38.58,68.80|Dusseldorf,DE,51.23,6.77|Düsseldorf,DE,51.23,6.77|Edinburgh,GB,55.95,-3.19
Edmonton,CA,53.55,-113.47|Eindhoven,NL,51.44,5.48|Eirunepe,BR,-6.67,-69.87|El Aaiun,EH,27.15,-13.20
El Salvador,SV,13.70,-89.20|Eucla,AU,-31.72,128.87|Fakaofo,TK,-9.37,-171.23|Famagusta,CY,35.12,33.95
Fiji,FJ,-18.13,178.42|Florence,IT,43.77,11.26|Fort Nelson,CA,58.80,-122.70|Fortaleza,BR,-3.72,-38.50
Frankfurt,DE,50.11,8.68|Freetown,SL,8.50,-13.25|Fukuoka,JP,33.59,130.40|Funafuti,TV,-8.52,179.22
Gaborone,BW,-24.65,25.92|Gambier,PF,-23.13,-134.95|Gaza,PS,31.50,34.47|Gdansk,PL,54.35,18.65
Geneva,CH,46.20,6.14|Geneve,CH,46.20,6.14|Genoa,IT,44.41,8.93|Ghent,BE,51.05,3.72|Gibraltar,GI,36.13,-5.35
Glace Bay,CA,46.20,-59.95|Glasgow,GB,55.86,-4.25|Goose Bay,CA,53.33,-60.42|Gothenburg,SE,57.71,11.97
Grand Turk,TC,21.47,-71.13|Graz,AT,47.07,15.44|Grenada,GD,12.05,-61.75|Guadalajara,MX,20.67,-103.35
Guadalcanal,SB,-9.53,160.20|Guadeloupe,GP,16.23,-61.53|Guam,GU,13.47,144.75|Guangzhou,CN,23.13,113.26
Guatemala,GT,14.63,-90.52|Guatemala City,GT,14.63,-90.51|Guayaquil,EC,-2.17,-79.83|Guernsey,GG,49.45,-2.54
Guyana,GY,6.80,-58.17|Halifax,CA,44.65,-63.60|Hamburg,DE,53.55,9.99|Hangzhou,CN,30.27,120.16
Hanoi,VN,21.03,105.85|Hanover,DE,52.38,9.73|Harare,ZW,-17.83,31.05|Havana,CU,23.13,-82.37|Hebron,PS,31.53,35.09
Helsinki,FI,60.17,24.97|Hermosillo,MX,29.07,-110.97|Ho Chi Minh,VN,10.75,106.67|Ho Chi Minh City,VN,10.78,106.70
Hobart,AU,-42.88,147.32|Hong Kong,HK,22.28,114.15|Honolulu,US,21.31,-157.86|Houston,US,29.76,-95.37
Hovd,MN,48.02,91.65|Hyderabad,IN,17.39,78.49|Indianapolis,US,39.77,-86.16|Innsbruck,AT,47.27,11.40
Inuvik,CA,68.35,-133.72|Iqaluit,CA,63.73,-68.47|Irkutsk,RU,52.27,104.33|Islamabad,PK,33.68,73.05
Isle of Man,IM,54.15,-4.47|Istanbul,TR,41.02,28.97|Jaipur,IN,26.91,75.79|Jakarta,ID,-6.17,106.80
Jamaica,JM,17.97,-76.79|Jayapura,ID,-2.53,140.70|Jeddah,SA,21.49,39.19|Jersey,JE,49.18,-2.11
Jerusalem,IL,31.78,35.22|Johannesburg,ZA,-26.25,28.00|Juba,SS,4.85,31.62|Jujuy,AR,-24.18,-65.30
Juneau,US,58.30,-134.42|Kabul,AF,34.52,69.20|Kaliningrad,RU,54.72,20.50|Kamchatka,RU,53.02,158.65
Kampala,UG,0.32,32.42|Kanton,KI,-2.78,-171.72|Karachi,PK,24.87,67.05|Kathmandu,NP,27.72,85.32
Kazan,RU,55.80,49.11|Kerguelen,TF,-49.35,70.22|Khandyga,RU,62.66,135.55|Khartoum,SD,15.60,32.53
Kigali,RW,-1.95,30.07|Kinshasa,CD,-4.30,15.30|Kiritimati,KI,1.87,-157.33|Kirov,RU,58.60,49.65
Kobe,JP,34.69,135.20|Kolkata,IN,22.53,88.37|Kosrae,FM,5.32,162.98|Krakow,PL,50.06,19.94
Kralendijk,BQ,12.15,-68.28|Krasnoyarsk,RU,56.02,92.83|Kuala Lumpur,MY,3.17,101.70|Kuching,MY,1.55,110.33
Kuwait,KW,29.33,47.98|Kuwait City,KW,29.38,47.98|Kwajalein,MH,9.08,167.33|Kyiv,UA,50.45,30.52
Kyoto,JP,35.01,135.77|Köln,DE,50.94,6.96|La Paz,BO,-16.50,-68.15|La Rioja,AR,-29.43,-66.85|Lagos,NG,6.45,3.40
Lahore,PK,31.55,74.34|Las Vegas,US,36.17,-115.14|Lausanne,CH,46.52,6.63|Leeds,GB,53.80,-1.55
Leipzig,DE,51.34,12.37|Libreville,GA,0.38,9.45|Lille,FR,50.63,3.06|Lima,PE,-12.05,-77.05
Lindeman,AU,-20.27,149.00|Linz,AT,48.31,14.29|Lisbon,PT,38.72,-9.13|Liverpool,GB,53.41,-2.98
Ljubljana,SI,46.05,14.51|Lome,TG,6.13,1.22|London,GB,51.51,-0.13|Los Angeles,US,34.05,-118.24
Louisville,US,38.25,-85.76|Lower Princes,SX,18.05,-63.05|Luanda,AO,-8.80,13.23|Lubumbashi,CD,-11.67,27.47
Lusaka,ZM,-15.42,28.28|Luxembourg,LU,49.60,6.15|Lyon,FR,45.76,4.84|Macau,MO,22.20,113.54|Maceio,BR,-9.67,-35.72
Madeira,PT,32.63,-16.90|Madrid,ES,40.40,-3.68|Magadan,RU,59.57,150.80|Mahe,SC,-4.67,55.47|Majuro,MH,7.15,171.20
Makassar,ID,-5.12,119.40|Malabo,GQ,3.75,8.78|Malaga,ES,36.72,-4.42|Maldives,MV,4.17,73.50|Malmo,SE,55.60,13.00
Malta,MT,35.90,14.52|Managua,NI,12.15,-86.28|Manaus,BR,-3.13,-60.02|Manchester,GB,53.48,-2.24
Manila,PH,14.59,120.97|Maputo,MZ,-25.97,32.58|Mariehamn,AX,60.10,19.95|Marigot,MF,18.07,-63.08
Marquesas,PF,-9.00,-139.50|Marrakesh,MA,31.63,-7.99|Marseille,FR,43.30,5.37|Martinique,MQ,14.60,-61.08
Maseru,LS,-29.47,27.50|Matamoros,MX,25.83,-97.50|Mauritius,MU,-20.17,57.50|Mayotte,YT,-12.78,45.23
Mazatlan,MX,23.22,-106.42|Mbabane,SZ,-26.30,31.10|Mecca,SA,21.39,39.86|Medellin,CO,6.24,-75.58
Melbourne,AU,-37.82,144.97|Mendoza,AR,-32.88,-68.82|Menominee,US,45.11,-87.61|Merida,MX,20.97,-89.62
Metlakatla,US,55.13,-131.58|Mexico City,MX,19.43,-99.13|Miami,US,25.76,-80.19|Milan,IT,45.46,9.19
Minneapolis,US,44.98,-93.27|Minsk,BY,53.90,27.57|Miquelon,PM,47.05,-56.33|Mogadishu,SO,2.07,45.37
Monaco,MC,43.70,7.38|Moncton,CA,46.10,-64.78|Monrovia,LR,6.30,-10.78|Monterrey,MX,25.67,-100.32
Montevideo,UY,-34.91,-56.21|Montreal,CA,45.50,-73.57|Montserrat,MS,16.72,-62.22|Moscow,RU,55.76,37.62
Mumbai,IN,19.08,72.88|Munich,DE,48.14,11.58|Muscat,OM,23.60,58.58|München,DE,48.14,11.58|Nagoya,JP,35.18,136.91
Nairobi,KE,-1.28,36.82|Nantes,FR,47.22,-1.55|Naples,IT,40.85,14.27|Nashville,US,36.16,-86.78
Nassau,BS,25.08,-77.35|Nauru,NR,-0.52,166.92|Ndjamena,TD,12.12,15.05|New Delhi,IN,28.61,77.21
New Orleans,US,29.95,-90.07|New York,US,40.71,-74.01|New York City,US,40.71,-74.01|Newcastle,GB,54.98,-1.61
Niamey,NE,13.52,2.12|Nice,FR,43.70,7.27|Nicosia,CY,35.17,33.37|Niue,NU,-19.02,-169.92|Nome,US,64.50,-165.41
Noronha,BR,-3.85,-32.42|Nouakchott,MR,18.10,-15.95|Noumea,NC,-22.27,166.45|Novokuznetsk,RU,53.75,87.12
Novosibirsk,RU,55.03,82.92|Nuremberg,DE,49.45,11.08|Nuuk,GL,64.18,-51.73|Odessa,UA,46.48,30.73
Ojinaga,MX,29.57,-104.42|Omsk,RU,55.00,73.40|Oral,KZ,51.22,51.35|Osaka,JP,34.69,135.50|Oslo,NO,59.92,10.75
Ottawa,CA,45.42,-75.70|Ouagadougou,BF,12.37,-1.52|Oxford,GB,51.75,-1.26|Pago Pago,AS,-14.27,-170.70
Palau,PW,7.33,134.48|Palermo,IT,38.12,13.36|Panama,PA,8.97,-79.53|Panama City,PA,8.98,-79.52
Paramaribo,SR,5.83,-55.17|Paris,FR,48.87,2.33|Perth,AU,-31.95,115.85|Philadelphia,US,39.95,-75.17
Phnom Penh,KH,11.55,104.92|Phoenix,US,33.45,-112.07|Pitcairn,PN,-25.07,-130.08|Pittsburgh,US,40.44,-80.00
Podgorica,ME,42.43,19.27|Pohnpei,FM,6.97,158.22|Pontianak,ID,-0.03,109.33|Port Moresby,PG,-9.50,147.17
Port of Spain,TT,10.65,-61.52|Port-au-Prince,HT,18.53,-72.33|Portland,US,45.52,-122.68|Porto,PT,41.15,-8.61
Porto Velho,BR,-8.77,-63.90|Porto-Novo,BJ,6.48,2.62|Poznan,PL,52.41,16.93|Prague,CZ,50.08,14.43
Puerto Rico,PR,18.47,-66.11|Pune,IN,18.52,73.86|Punta Arenas,CL,-53.15,-70.92|Pyongyang,KP,39.02,125.75
Qatar,QA,25.28,51.53|Qostanay,KZ,53.20,63.62|Quebec City,CA,46.81,-71.21|Qyzylorda,KZ,44.80,65.47
Rabat,MA,34.02,-6.83|Rankin Inlet,CA,62.82,-92.08|Rarotonga,CK,-21.23,-159.77|Recife,BR,-8.05,-34.90
Regina,CA,50.40,-104.65|Resolute,CA,74.70,-94.83|Reykjavik,IS,64.15,-21.94|Riga,LV,56.95,24.10
Rio Branco,BR,-9.97,-67.80|Rio Gallegos,AR,-51.63,-69.22|Rio de Janeiro,BR,-22.91,-43.17|Riyadh,SA,24.63,46.72
Roma,IT,41.90,12.50|Rome,IT,41.90,12.48|Rotterdam,NL,51.92,4.48|Saint Petersburg,RU,59.94,30.31
Saipan,MP,15.20,145.75|Sakhalin,RU,46.97,142.70|Salt Lake City,US,40.76,-111.89|Salta,AR,-24.78,-65.42
Salzburg,AT,47.81,13.04|Samara,RU,53.20,50.15|Samarkand,UZ,39.67,66.80|San Antonio,US,29.42,-98.49
San Diego,US,32.72,-117.16|San Francisco,US,37.77,-122.42|San Jose,US,37.34,-121.89|San Juan,AR,-31.53,-68.52
San Luis,AR,-33.32,-66.35|San Marino,SM,43.92,12.47|Santa Cruz,BO,-17.78,-63.18|Santarem,BR,-2.43,-54.87
Santiago,CL,-33.45,-70.67|Santo Domingo,DO,18.47,-69.90|Sao Paulo,BR,-23.53,-46.62|Sao Tome,ST,0.33,6.73
Sapporo,JP,43.06,141.35|Sarajevo,BA,43.87,18.42|Saratov,RU,51.57,46.03|Scoresbysund,GL,70.48,-21.97
Seattle,US,47.61,-122.33|Seoul,KR,37.55,126.97|Seville,ES,37.39,-5.98|Shanghai,CN,31.23,121.47
Shenzhen,CN,22.54,114.06|Simferopol,UA,44.95,34.10|Singapore,SG,1.28,103.85|Sitka,US,57.18,-135.30
Skopje,MK,41.98,21.43|Sofia,BG,42.68,23.32|South Georgia,GS,-54.27,-36.53|Srednekolymsk,RU,67.47,153.72
St Barthelemy,BL,17.88,-62.85|St Helena,SH,-15.92,-5.70|St Johns,CA,47.57,-52.72|St Kitts,KN,17.30,-62.72
St Lucia,LC,14.02,-61.00|St Thomas,VI,18.35,-64.93|St Vincent,VC,13.15,-61.23|Stavanger,NO,58.97,5.73
Stockholm,SE,59.33,18.05|Strasbourg,FR,48.57,7.75|Stuttgart,DE,48.78,9.18|Sydney,AU,-33.87,151.22
Tahiti,PF,-17.53,-149.57|Taipei,TW,25.05,121.50|Tallinn,EE,59.42,24.75|Tampa,US,27.95,-82.46
Tampere,FI,61.50,23.76|Tarawa,KI,1.42,173.00|Tashkent,UZ,41.33,69.30|Tbilisi,GE,41.72,44.82
Tegucigalpa,HN,14.10,-87.22|Tehran,IR,35.67,51.43|Tel Aviv,IL,32.09,34.78|The Hague,NL,52.08,4.31
Thessaloniki,GR,40.64,22.94|Thimphu,BT,27.47,89.65|Thule,GL,76.57,-68.78|Tijuana,MX,32.53,-117.02
Tirane,AL,41.33,19.83|Tokyo,JP,35.65,139.74|Tomsk,RU,56.50,84.97|Tongatapu,TO,-21.13,-175.20
Toronto,CA,43.65,-79.38|Tortola,VG,18.45,-64.62|Toulouse,FR,43.60,1.44|Trieste,IT,45.65,13.78
Tripoli,LY,32.90,13.18|Tromsø,NO,69.65,18.96|Trondheim,NO,63.43,10.40|Tucuman,AR,-26.82,-65.22
Tunis,TN,36.80,10.18|Turin,IT,45.07,7.69|Ulaanbaatar,MN,47.92,106.88|Ulyanovsk,RU,54.33,48.40
Urumqi,CN,43.80,87.58|Ushuaia,AR,-54.80,-68.30|Ust-Nera,RU,64.56,143.23|Utrecht,NL,52.09,5.12
Vaduz,LI,47.15,9.52|Valencia,ES,39.47,-0.38|Vancouver,CA,49.27,-123.12|Vatican,VA,41.90,12.45
Venice,IT,45.44,12.32|Verona,IT,45.44,10.99|Vienna,AT,48.22,16.33|Vientiane,LA,17.97,102.60
Vilnius,LT,54.68,25.32|Vladivostok,RU,43.17,131.93|Volgograd,RU,48.73,44.42|Wallis,WF,-13.30,-176.17
Warsaw,PL,52.25,21.00|Washington,US,38.91,-77.04|Wellington,NZ,-41.29,174.78|Whitehorse,CA,60.72,-135.05
Wien,AT,48.21,16.37|Windhoek,NA,-22.57,17.10|Winnipeg,CA,49.88,-97.15|Wroclaw,PL,51.11,17.04
Wuhan,CN,30.59,114.31|Xian,CN,34.34,108.94|Yakutat,US,59.55,-139.73|Yakutsk,RU,62.00,129.67
Yangon,MM,16.78,96.17|Yekaterinburg,RU,56.85,60.60|Yerevan,AM,40.18,44.50|Zagreb,HR,45.80,15.97
Zurich,CH,47.38,8.53|Zürich,CH,47.37,8.54
`

export interface Place {
  name: string
  /** ISO 3166-1 alpha-2. */
  country: string
  latitude: number
  longitude: number
}

/** `Ho Chi Minh`, `Rio de Janeiro`. */
export const MAX_WORDS_OF_A_PLACE = 3

/** By the name without case and accents. */
export const PLACES_BY_NAME: ReadonlyMap<string, Place> = new Map(
  PLACES.trim()
    .split(/[|\n]/)
    .map((line) => {
      const [name = '', country = '', latitude, longitude] = line.split(',')
      return [
        toPlainName(name),
        { name, country, latitude: Number(latitude), longitude: Number(longitude) },
      ]
    }),
)

/** @example toPlainName('Zürich') → 'zurich' */
export function toPlainName(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ø', 'o').toLowerCase()
}
