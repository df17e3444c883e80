package server

import (
	"strconv"
	"unicode/utf8"

	"callerd/internal/queue"
)

// text is one text in the languages of the hall, as the display protocol has it.
type text struct {
	Zh string `json:"zh-CN"`
	En string `json:"en"`
}

// spoken is an announcement token by token, so that a page needs no grammar.
type spoken struct {
	Zh []string `json:"zh-CN"`
	En []string `json:"en"`
}

func announceText(number string, counter queue.CounterID) text {
	c := strconv.Itoa(int(counter))
	return text{
		Zh: "请" + number + "号到" + c + "号窗口办理业务",
		En: "Ticket " + number + ", please go to counter " + c,
	}
}

func announceSpoken(number string, counter queue.CounterID) spoken {
	s := spoken{Zh: []string{"请"}, En: []string{"Ticket"}}
	for i := 0; i < len(number); {
		r, size := utf8.DecodeRuneInString(number[i:])
		i += size
		if r >= '0' && r <= '9' {
			s.Zh, s.En = append(s.Zh, zhDigits[r-'0']), append(s.En, enDigits[r-'0'])
		} else {
			s.Zh, s.En = append(s.Zh, string(r)), append(s.En, string(r))
		}
	}
	s.Zh = append(s.Zh, "号到", zhNumber(int(counter)), "号窗口", "办理业务")
	s.En = append(s.En, "please go to counter", enNumber(int(counter)))
	return s
}

var (
	zhDigits = [...]string{"零", "一", "二", "三", "四", "五", "六", "七", "八", "九"}
	zhUnits  = [...]string{"", "十", "百", "千"}
	enDigits = [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
		"ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}
	enTens = [...]string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
)

// zhNumber reads a counter's number (1 to 9999) in Chinese: 3 三, 12 十二, 105 一百零五.
func zhNumber(n int) string {
	digits := strconv.Itoa(n)
	if n < 1 || n > 9999 {
		return digits
	}
	out, gap := "", false
	for i, d := range digits {
		switch unit := zhUnits[len(digits)-1-i]; {
		case d == '0':
			gap = true
		case i == 0 && d == '1' && unit == "十":
			out += unit
		default:
			if gap {
				out += "零"
			}
			out, gap = out+zhDigits[d-'0']+unit, false
		}
	}
	return out
}

// enNumber reads a counter's number (1 to 9999) in English.
func enNumber(n int) string {
	join := func(head string, rest int) string {
		if rest == 0 {
			return head
		}
		return head + " " + enNumber(rest)
	}
	switch {
	case n < 0 || n > 9999:
		return strconv.Itoa(n)
	case n < 20:
		return enDigits[n]
	case n < 100:
		return join(enTens[n/10], n%10)
	case n < 1000:
		return join(enDigits[n/100]+" hundred", n%100)
	default:
		return join(enDigits[n/1000]+" thousand", n%1000)
	}
}
